// Small models with heads of labels, for tests of what runs them.
#ifndef ATTEND_TASKS_LABEL_MODEL_FIXTURE_H_
#define ATTEND_TASKS_LABEL_MODEL_FIXTURE_H_

#include <memory>
#include <string>
#include <vector>

#include "model/model_fixture.h"

namespace attend {

// An encoder with the golden model's vocabulary and random weights.
inline std::shared_ptr<Model> MakeLabelModel(const std::string& task, Pooling pooling,
                                             std::vector<std::string> labels) {
  const auto golden = LoadModel(ATTEND_SOURCE_DIR "/tests/data/golden_v1");
  auto model = std::make_shared<Model>();
  model->config = SmallConfig(golden->config.target_vocab_size);
  model->config.task = task;
  model->config.languages = {"ka"};
  model->config.decoder.reset();
  model->config.head = HeadKind::kLabels;
  model->config.pooling = pooling;
  model->config.labels = std::move(labels);
  if (task == "tagging") {
    model->config.label_scheme = LabelScheme::kIob2;
    model->config.crf = true;
    model->config.encoder->positions = PositionKind::kLearned;
    model->config.encoder->max_positions = 24;
  }
  model->tensors = RandomTensors(model->config, 7, 0.5);
  model->source_vocabulary = model->target_vocabulary = golden->target_vocabulary;
  return model;
}

// A classifier of pictures of 28 x 28 pixels in patches of 4, with random weights.
inline std::shared_ptr<Model> MakePictureModel() {
  auto model = std::make_shared<Model>();
  ModelConfig& config = model->config = PresetConfig("vit-tiny");
  config.task = "classification";
  config.source_vocab_size = config.target_vocab_size = 0;
  config.head = HeadKind::kLabels;
  config.labels = {"a", "b", "c"};
  config.pooling = Pooling::kFirst;
  config.encoder->layers = 2;
  config.patches->mean = {0.25};
  model->tensors = RandomTensors(config, 7, 0.5);
  return model;
}

// A classifier of items with a text, a picture of 8 x 8 grey pixels and links to four nodes, with
// random weights.
inline std::shared_ptr<Model> MakeItemModel() {
  const std::shared_ptr<Model> of_text =
      MakeLabelModel("classification", Pooling::kFirst, {"a", "b", "c"});
  auto model = std::make_shared<Model>();
  ModelConfig& config = model->config = PresetConfig("fusion-tiny");
  config.task = "fusion";
  config.source_vocab_size = config.target_vocab_size = of_text->config.source_vocab_size;
  config.special_ids = of_text->config.special_ids;
  config.head = HeadKind::kLabels;
  config.labels = {"a", "b", "c"};
  FusionInput& fusion = *config.fusion;
  fusion.text.d_model = 48;
  fusion.picture.d_model = 64;
  fusion.picture.layers = 2;
  fusion.patches = {.height = 8, .width = 8, .channels = 1, .patch = 4, .class_token = false};
  fusion.picture.max_positions = 4;
  fusion.nodes = {"cotton", "silk", "village", "weaver"};
  fusion.shared_width = 20;
  model->tensors = RandomTensors(config, 7, 0.5);
  model->source_vocabulary = model->target_vocabulary = of_text->source_vocabulary;
  return model;
}

}  // namespace attend

#endif  // ATTEND_TASKS_LABEL_MODEL_FIXTURE_H_
