#include "core/report/phrases.h"

namespace ulpscope::report {
namespace {

constexpr Phrase kPhrases[] = {
    {"metric.relL2", "relative L2 error", "erro L2 relativo"},
    {"heatmap.caption", "Relative L2 error of each module and sample", "Erro L2 relativo de cada módulo e amostra"},
    {"heatmap.samples", "n-th sample, as given", "n-ésima amostra, na ordem dada"},
    {"heatmap.ids", "sample id, as given", "id da amostra, na ordem dada"},
    {"heatmap.words", "Heatmap of relative L2 error: {0} modules by {1} samples, colours from {2} to {3}. Cells that are NaN: {4}; +inf: {5}; -inf: {6}; exactly zero: {7}; not run: {8}. The tables below have the numbers.",
     "Mapa de calor do erro L2 relativo: {0} módulos por {1} amostras, cores de {2} a {3}. Células NaN: {4}; +inf: {5}; -inf: {6}; exatamente zero: {7}; não executadas: {8}. As tabelas abaixo têm os números."},
    {"legend.zero", "exact zero", "zero exato"},
    {"legend.nan", "NaN", "NaN"},
    {"legend.plusInf", "+inf", "+inf"},
    {"legend.minusInf", "−inf", "−inf"},
    {"legend.notRun", "not run, or no number", "não executada, ou sem número"},
    {"legend.tolerance", "site tolerance {0}", "tolerância {0}"},
    {"legend.origin", "NaN or inf arises here", "NaN ou inf surge aqui"},
    {"legend.consequence", "carried on from above", "propagado de cima"},

    {"margin.caption", "Margins: each sample's decision against the boundary", "Margens: a decisão de cada amostra em relação à fronteira"},
    {"margin.x", "FP32 margin", "margem FP32"},
    {"margin.y", "± AMP − FP32", "± AMP − FP32"},
    {"margin.tie", "AMP margin 0", "margem AMP 0"},
    {"margin.impossibleTwice", "no change possible beyond {0} (2 × largest error)", "nenhuma mudança possível além de {0} (2 × maior erro)"},
    {"margin.impossibleOnce", "no change possible beyond {0} (largest error)", "nenhuma mudança possível além de {0} (maior erro)"},
    {"margin.words", "AMP margin minus FP32 margin against the FP32 margin, one point a sample, both axes logarithmic away from zero; the AMP margin of a changed decision counts as negative.",
     "Margem AMP menos margem FP32 contra a margem FP32, um ponto por amostra, eixos logarítmicos longe de zero; a margem AMP de uma decisão alterada conta como negativa."},

    {"headroom.figure", "Largest and smallest magnitudes of each op site", "Maiores e menores magnitudes de cada ponto de operação"},
    {"headroom.x", "op site, in execution order", "ponto de operação, na ordem de execução"},
    {"headroom.fp32", "max |x| FP32", "máx. |x| FP32"},
    {"headroom.amp", "max |x| AMP {0}", "máx. |x| AMP {0}"},
    {"headroom.smallest", "smallest |x| AMP {0}", "menor |x| AMP {0}"},
    {"headroom.max", "largest {0}", "máximo {0}"},
    {"headroom.normal", "normal {0}", "normal {0}"},
    {"headroom.subnormal", "subnormal {0}", "subnormal {0}"},
    {"headroom.below", "{0} site below the axis|{0} sites below the axis", "{0} ponto abaixo do eixo|{0} pontos abaixo do eixo"},
    {"headroom.zeros", "{0} site of zeros only|{0} sites of zeros only", "{0} ponto só de zeros|{0} pontos só de zeros"},
    {"headroom.words", "Magnitudes of {0} op sites on a logarithmic scale, with the limits of the low format.", "Magnitudes de {0} pontos de operação em escala logarítmica, com os limites do formato baixo."},

    {"curve.caption", "Loss, scale and gradient norm over the steps", "Perda, escala e norma do gradiente ao longo dos passos"},
    {"curve.loss", "loss", "perda"},
    {"curve.scale", "scale", "escala"},
    {"curve.norm", "gradient norm", "norma do grad."},
    {"curve.step", "step", "passo"},
    {"curve.run", "this training", "este treinamento"},
    {"curve.fp32", "FP32 beside it", "FP32 ao lado"},
    {"curve.skipped", "step skipped", "passo pulado"},
    {"curve.infinite", "infinite, or not positive", "infinito, ou não positivo"},
    {"curve.words", "Three curves over {0} ledger lines; {1} steps were skipped. The table below has the numbers.", "Três curvas sobre {0} linhas do registro; {1} passos foram pulados. A tabela abaixo tem os números."},
};

}  // namespace

std::span<const Phrase> figurePhrases() { return kPhrases; }

}  // namespace ulpscope::report
