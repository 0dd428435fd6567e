#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "attend/error.h"
#include "base/thread_pool.h"
#include "model/config_file.h"
#include "model/graph_file.h"
#include "tasks/encoder_runner.h"
#include "text/lines.h"
#include "train/tasks/fusion/fusion_options.h"
#include "train/tasks/fusion/fusion_task.h"
#include "train/tasks/run_model.h"
#include "train/tasks/text_files.h"

namespace attend {
namespace {

// Where no item has a text, the text's encoder is never used: letters of the labels will do.
std::string VocabularyWithoutTexts(const TaskSetup& setup) {
  setup.log(LogLevel::kWarning,
            "no training item has a text: the model will not learn to read texts");
  VocabularyOptions options = FusionOptionsOf(*setup.options).vocabulary.made;
  options.type = VocabularyType::kChar;
  size_t label = 0;
  const std::vector<std::string>& labels = setup.options->model.labels;
  const NextLine next = [&](std::string* line) {
    if (label == labels.size()) return false;
    *line = labels[label++];
    return true;
  };
  return TrainVocabulary(next, options, static_cast<uint64_t>(setup.options->seed), setup.log);
}

std::string MakeVocabulary(const TaskSetup& setup, const std::vector<Item>& items) {
  if (std::ranges::none_of(items, [](const Item& each) { return each.text.has_value(); }))
    return VocabularyWithoutTexts(setup);
  size_t item = 0;
  const NextLine next = [&](std::string* line) {
    while (item < items.size() && !items[item].text) ++item;
    if (item == items.size()) return false;
    *line = *items[item++].text;
    return true;
  };
  return TrainVocabulary(next, FusionOptionsOf(*setup.options).vocabulary.made,
                         static_cast<uint64_t>(setup.options->seed), setup.log);
}

// A model's config.json has the nodes' names, and its graph.tsv the triples.
void CheckSize(const KnowledgeGraph& graph) {
  constexpr size_t kMost = kMaxConfigBytes / 4 * 3;
  size_t bytes = 0;
  for (const std::string& node : graph.nodes)
    bytes += Json(node).dump().size() + 3;  // a comma, white space
  if (bytes > kMost) {
    throw Error(ErrorKind::kInput,
                fmt::format("the names of the graph's {} nodes have {} bytes in JSON, expected at "
                            "most {}; leave out nodes that no item needs, or give them shorter "
                            "names",
                            graph.nodes.size(), bytes, kMost));
  }
  if (const size_t text = GraphText(graph).size(); text > kMaxGraphBytes) {
    throw Error(ErrorKind::kInput,
                fmt::format("the graph's {} triples have {} bytes, expected at most {}; leave out "
                            "triples that no item needs",
                            graph.triples.size(), text, kMaxGraphBytes));
  }
}

// What does not hang on the vocabulary.
void CompleteModel(const TaskSetup& setup, const std::vector<Item>& train,
                   const KnowledgeGraph& graph) {
  ModelConfig& model = setup.options->model;
  model.head = HeadKind::kLabels;
  model.pooling = Pooling::kFirst;
  model.head_bias = model.head_transform = false;
  model.labels = LabelsIn(train);
  CheckSize(graph);
  model.fusion->nodes = graph.nodes;
  if (!setup.settings->is_given("fusion.picture.max_positions"))
    model.fusion->picture.max_positions =
        model.fusion->patches.rows() + model.fusion->picture.position_offset;
  if (model.labels.size() < 2) {
    throw Error(ErrorKind::kInput, "the training items have the label '" + model.labels[0] +
                                       "' alone, expected at least two");
  }
  CheckShape(model);
}

}  // namespace

std::unique_ptr<TrainingTask> SetUpFusion(const TaskSetup& setup) {
  TrainOptions& options = *setup.options;
  ModelConfig& model = options.model;
  FusionOptions& own = FusionOptionsOf(options);
  if (!setup.device.is_cpu()) {
    throw Error(ErrorKind::kConfiguration,
                "device is a GPU, but task fusion is trained on processors; leave device out");
  }
  for (const auto* files : {&own.train, &own.valid, &own.test, &own.graph})
    CheckReadable(*files, FormatCheck::kText);
  std::vector<Item> train = ReadItems(own.train);
  ItemCorpora items;
  if (!own.graph.empty()) items.graph = ReadGraph(own.graph);
  CompleteModel(setup, train, items.graph);
  items.vocabulary =
      VocabularyOf(setup, &own.vocabulary, [&] { return MakeVocabulary(setup, train); });
  model.source_vocab_size = model.target_vocab_size = items.vocabulary->size();
  model.special_ids = items.vocabulary->special_ids();
  CheckModelConfig(model);
  ItemCorpusOptions reading;
  reading.input = *model.fusion;
  reading.labels = model.labels;
  reading.seed = static_cast<uint64_t>(options.seed);
  reading.max_tokens = MaxEncoderTokens(model);
  reading.input_dropout = own.input_dropout;
  reading.augmentation = own.augmentation;
  ThreadPool pool(setup.settings->threads);
  const auto corpus = [&](const std::vector<std::string>& files, std::vector<Item> some) {
    auto made = std::make_shared<const ItemCorpus>(std::move(some), files, *items.vocabulary,
                                                   reading, &pool);
    if (const std::string damaged = made->DamagedMessage(); !damaged.empty())
      setup.log(LogLevel::kWarning, damaged);
    return made;
  };
  items.train = corpus(own.train, std::move(train));
  if (!own.valid.empty()) items.valid = corpus(own.valid, ReadItems(own.valid));
  if (!own.test.empty() && setup.group->first()) items.test = corpus(own.test, ReadItems(own.test));
  return std::make_unique<FusionTask>(setup, std::move(items));
}

}  // namespace attend
