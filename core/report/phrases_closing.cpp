#include "core/report/phrases.h"

namespace ulpscope::report {
namespace {

constexpr Phrase kPhrases[] = {
    {"limits.title", "Limits of what was shown", "Limites do que foi mostrado"},
    {"limits.emulated", "Emulated on a CPU: a GPU adds in another order and may decide otherwise where a margin is as small as that. Nothing is said of speed, and no number here is bit for bit a GPU's.",
     "Emulado em CPU: uma GPU soma em outra ordem e pode decidir diferente onde a margem é tão pequena. Nada se diz sobre velocidade, e nenhum número aqui é, bit a bit, o de uma GPU."},
    {"limits.native", "Run by LibTorch's CPU kernels: other hardware may decide otherwise.", "Executado pelos kernels de CPU da LibTorch: outro hardware pode decidir diferente."},
    {"limits.recorded", "Recorded on {0} with PyTorch {1}: other hardware or another PyTorch may decide otherwise. What an op adds by itself cannot be known of a recording.",
     "Gravado em {0} com PyTorch {1}: outro hardware ou outro PyTorch pode decidir diferente. Numa gravação não se pode saber o que uma operação acrescenta por si mesma."},
    {"limits.samples", "All numbers are of these samples and these weights; of other inputs nothing is claimed. An interval takes the samples as independent draws from the inputs that the model will meet.",
     "Todos os números são destas amostras e destes pesos; de outras entradas nada se afirma. Um intervalo trata as amostras como sorteios independentes das entradas que o modelo encontrará."},
    {"limits.kinds", "{0} of the {1} samples is an edge or boundary case: a rate is not that of common inputs.|{0} of the {1} samples are edge or boundary cases: a rate is not that of common inputs.",
     "{0} das {1} amostras é um caso extremo ou de fronteira: a taxa não é a de entradas comuns.|{0} das {1} amostras são casos extremos ou de fronteira: a taxa não é a de entradas comuns."},
    {"limits.tried", "{0} candidate was tried on these samples.|{0} candidates were tried on these samples: the best of several looks better than it is.", "{0} candidato foi testado nestas amostras.|{0} candidatos foram testados nestas amostras: o melhor de vários parece melhor do que é."},
    {"limits.noNoise", "FP32's own noise was not measured: some of the changed decisions may be FP32's.", "O ruído do próprio FP32 não foi medido: algumas das decisões alteradas podem ser dele."},
    {"limits.ties", "{0} sample ties in FP32 (rule: {1}).|{0} samples tie in FP32 (rule: {1}).", "{0} amostra empata em FP32 (regra: {1}).|{0} amostras empatam em FP32 (regra: {1})."},
    {"limits.noIntroduced", "What each op adds by itself (introduced error) was not measured in this run.", "O que cada operação acrescenta por si mesma (erro introduzido) não foi medido nesta execução."},
    {"limits.captures", "{0} op site was not stored in full for want of budget.|{0} op sites were not stored in full for want of budget.", "{0} ponto de operação não foi armazenado por completo por falta de espaço previsto.|{0} pontos de operação não foram armazenados por completo por falta de espaço previsto."},
    {"limits.covered", "Results are covered: this report holds no number of any run.", "Os resultados estão ocultos: este relatório não contém número de nenhuma execução."},
    {"limits.training", "A training is one trajectory from one seed: another seed may go otherwise.", "Um treinamento é uma trajetória de uma semente: outra semente pode seguir outro caminho."},
    {"limits.hash", "A hash of the criteria finds accidental changes; it is no signature.", "O hash dos critérios detecta alterações acidentais; não é uma assinatura."},
    {"limits.paths", "Files are named without their folders; their SHA-256 says which they are.", "Os arquivos são citados sem suas pastas; o SHA-256 diz quais são."},
    {"limits.language", "What the engine and users wrote (warnings, notes, names) stands in the language that it was written in.", "O que o motor e os usuários escreveram (avisos, notas, nomes) aparece na língua em que foi escrito."},

    {"reproduce.title", "How to reproduce", "Como reproduzir"},
    {"reproduce.lead", "In a folder that holds the files named above, with the same SHA-256:", "Em uma pasta com os arquivos citados acima, com os mesmos SHA-256:"},
    {"reproduce.leadCriteria", "In a folder that holds the files named above, with the same SHA-256, and the criteria above as criteria.json:", "Em uma pasta com os arquivos citados acima, com os mesmos SHA-256, e os critérios acima como criteria.json:"},
    {"reproduce.run", "The same run again, into a new session", "A mesma execução de novo, em uma nova sessão"},
    {"reproduce.recorded", "This run was recorded in the user's own PyTorch: the script that called the recorder makes it again.", "Esta execução foi gravada no PyTorch do próprio usuário: o script que chamou o gravador a refaz."},
    {"reproduce.scans", "The scans again, stored beside the first ones", "As varreduras de novo, guardadas ao lado das primeiras"},
    {"reproduce.training", "The latest training again, with recipe.json as below", "O treinamento mais recente de novo, com recipe.json como abaixo"},
    {"reproduce.recipe", "recipe.json", "recipe.json"},
    {"reproduce.session", "With the session's file and the .d folder beside it", "Com o arquivo da sessão e a pasta .d ao lado"},
};

}  // namespace

std::span<const Phrase> closingPhrases() { return kPhrases; }

}  // namespace ulpscope::report
