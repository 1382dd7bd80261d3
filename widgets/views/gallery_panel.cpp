#include "widgets/views/gallery_panel.h"

#include "widgets/plots/theme.h"
#include "widgets/views/gallery_view.h"

#include <QComboBox>
#include <QEvent>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QVBoxLayout>

namespace ulpscope::views {
namespace {

constexpr int kMostAtOnce = 200;  // pictures of one reading

}  // namespace

GalleryPanel::GalleryPanel(QWidget* parent) : QWidget(parent) {
  m_view = new GalleryView(&m_model, this);
  m_note = new QLabel(this);
  m_note->setWordWrap(true);
  m_note->setTextFormat(Qt::PlainText);
  m_input = new QComboBox(this);
  m_input->setAccessibleName(tr("Input shown"));
  m_inputLabel = new QLabel(tr("Input"), this);
  m_inputLabel->setBuddy(m_input);
  auto* top = new QHBoxLayout;
  top->addWidget(m_note, 1);
  top->addWidget(m_inputLabel);
  top->addWidget(m_input);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(4);
  layout->addLayout(top);
  layout->addWidget(m_view, 1);
  setNote({});
  onOpened({}, 0);

  connect(m_view, &GalleryView::sampleChosen, this, &GalleryPanel::sampleChosen);
  connect(m_view, &GalleryView::needed, this, [this](std::vector<std::int64_t> samples) {
    if (!m_isOpen) return;
    if (samples.size() > kMostAtOnce) samples.resize(kMostAtOnce);
    const render::Theme theme = plots::themeOf(this).forRender();
    const int side = static_cast<int>(m_view->pictureSide() * devicePixelRatioF());
    m_loader.load({m_input->currentText(), samples, {side, side}, theme});
  });
  connect(&m_loader, &jobs::InputLoader::opened, this, &GalleryPanel::onOpened);
  connect(&m_loader, &jobs::InputLoader::loaded, this, &GalleryPanel::onLoaded);
  connect(&m_loader, &jobs::InputLoader::failed, this, [this](const QString& why) {
    m_isOpen = false;
    setNote(why);
  });
  connect(m_input, &QComboBox::currentIndexChanged, this, &GalleryPanel::dropPictures);
}

QString GalleryPanel::note() const { return m_note->text(); }

void GalleryPanel::setNote(const QString& text) {
  m_note->setText(text);
  m_note->setVisible(!text.isEmpty());
}

void GalleryPanel::setRun(const models::RunPointer& run, const QString& sessionPath) {
  m_run = run;
  m_sessionPath = sessionPath;
  m_model.setRun(run);
  if (isVisible()) openInputs();
}

void GalleryPanel::setDecided(const models::DecidedPointer& decided) { m_model.setDecided(decided); }

void GalleryPanel::setFilter(const models::DecisionFilter& filter) { m_model.setFilter(filter); }

void GalleryPanel::setSelectedSample(std::int64_t sample) {
  m_model.setSelectedSample(sample);
  m_view->showSample(sample);
}

// Only once somebody looks: it reads the whole file to check it.
void GalleryPanel::openInputs() {
  if (!m_run) {
    m_loader.close();
    m_isOpen = false;
    return m_model.clearThumbnails();
  }
  const jobs::InputSource source = jobs::inputSource(*m_run->session, m_run->run->settings, m_sessionPath);
  if (m_loader.source() == source) return;
  m_isOpen = false;
  m_model.clearThumbnails();
  setNote(tr("Checking %1 …").arg(QFileInfo(source.path).fileName()));
  m_loader.open(source);
}

void GalleryPanel::onOpened(const QStringList& inputs, int shownFirst) {
  {
    const QSignalBlocker quiet(m_input);
    m_input->clear();
    m_input->addItems(inputs);
    m_input->setCurrentIndex(shownFirst);
  }
  for (QWidget* widget : {static_cast<QWidget*>(m_input), static_cast<QWidget*>(m_inputLabel)}) widget->setVisible(inputs.size() > 1);
  m_isOpen = !inputs.isEmpty();
  setNote({});
  m_view->setToolTip(tr("Each picture is stretched over its own range of values; the tooltip has the range."));
  m_view->askForPictures();
}

void GalleryPanel::onLoaded(const QString& input, const jobs::ThumbnailBatch& batch) {
  if (input != m_input->currentText()) return;
  for (const auto& [sample, thumbnail] : batch) m_model.setThumbnail(sample, thumbnail);
  m_view->askForPictures();
}

void GalleryPanel::dropPictures() {
  m_model.clearThumbnails();
  m_view->askForPictures();
}

void GalleryPanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  openInputs();
}

void GalleryPanel::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) dropPictures();
  QWidget::changeEvent(event);
}

}  // namespace ulpscope::views
