#include "train/tasks/fusion/fusion_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "attend/error.h"
#include "base/sha256.h"
#include "media/patch_numbers.h"
#include "model/config_file.h"
#include "model/sample.h"
#include "tasks/samples.h"
#include "text/tokenizer.h"
#include "train/loop/parameters.h"
#include "train/tasks/packed_batch.h"
#include "train/tasks/run_model.h"
#include "train/tasks/vocabulary_choice.h"

namespace attend {
namespace {

// The graph that the run's directory keeps, which must be the one that it was trained with.
KnowledgeGraph GraphOf(const ExportedRun& run) {
  if (!run.identity.data_digests.contains("graph")) return {};
  const std::filesystem::path path = run.directory() / kGraphFile;
  KnowledgeGraph graph = ReadGraph({path.string()});
  if (Json(Sha256(GraphText(graph))) == run.identity.data_digests["graph"]) return graph;
  throw Error(ErrorKind::kInput,
              fmt::format("the graph in '{}' is not the one that '{}' was trained with",
                          path.string(), run.checkpoint.string()));
}

// The model's weights, of which its graph's network has become vectors of the nodes.
nn::FusionModel WithoutNetwork(const ExportedRun& run, const KnowledgeGraph& graph,
                               const Model& model) {
  const torch::NoGradGuard no_grad;
  const auto shape = GraphShapeOf(graph, run.identity.options, run.where);
  nn::FusionModel trained(model.config, shape), exported(model.config);
  ReadParameters(model.tensors, trained.ptr().get());
  ReadParameters(model.tensors, exported.ptr().get(), {"encoder.nodes."});
  trained->eval();
  exported->eval();
  if (shape) exported->nodes->weight.copy_(trained->Nodes());
  return exported;
}

// One example, without a label.
ExampleTable TableOf(const Sample& sample, const PatchInput& input) {
  ExampleTable table({{ColumnKind::kIds},
                      {ColumnKind::kNumbers, input.patch_size()},
                      {ColumnKind::kIds},
                      {ColumnKind::kLabels}});
  table.Append(kItemTextColumn, sample.source_ids);
  if (!sample.pixels.empty()) table.Append(kItemPatchColumn, PatchNumbers(input).Of(sample.pixels));
  table.Append(kItemNodeColumn, *sample.nodes);
  table.EndExample({});
  return table;
}

// Of the only item.
Sample::SharedVectors SharedVectors(nn::FusionModel& module, const nn::PackedItems& item) {
  const auto numbers = [](const torch::Tensor& vectors_BW) {
    const torch::Tensor vector_W = vectors_BW[0].to(torch::kFloat64).contiguous();
    const double* const begin = vector_W.const_data_ptr<double>();
    return std::vector<double>(begin, begin + vector_W.numel());
  };
  Sample::SharedVectors found;
  if (item.texts.offsets_B1.defined()) found.text_W = numbers(module->TextVectors(item.texts));
  if (item.pictures.offsets_B1.defined())
    found.picture_W = numbers(module->PictureVectors(item.pictures));
  return found;
}

}  // namespace

std::optional<nn::GraphShape> GraphShapeOf(const KnowledgeGraph& graph, const Json& options,
                                           const std::string& where) {
  if (graph.nodes.empty()) return std::nullopt;
  nn::GraphShape shape;
  shape.nodes = std::ssize(graph.nodes);
  shape.relations = std::ssize(graph.relations);
  shape.triples = graph.triples;
  shape.width = MemberOf<int64_t>(options, "graph_width", where);
  shape.layers = MemberOf<int64_t>(options, "graph_layers", where);
  shape.bases = MemberOf<int64_t>(options, "graph_bases", where);
  shape.node_dropout = MemberOf<double>(options, "node_dropout", where);
  return shape;
}

nn::PackedItems PackItems(const Examples& examples, const PatchInput& input) {
  nn::PackedItems packed;
  std::vector<int32_t> ids;
  std::vector<int64_t> texts;
  std::vector<float> patches;
  for (const Example example : examples) {
    packed.items.push_back({example.Length(kItemTextColumn), example.Length(kItemPatchColumn),
                            example.Length(kItemNodeColumn)});
    const std::span<const int32_t> text = example.Ids(kItemTextColumn),
                                   nodes = example.Ids(kItemNodeColumn);
    const std::span<const float> picture = example.Numbers(kItemPatchColumn);
    ids.insert(ids.end(), text.begin(), text.end());
    if (!text.empty()) texts.push_back(std::ssize(text));
    patches.insert(patches.end(), picture.begin(), picture.end());
    packed.nodes.insert(packed.nodes.end(), nodes.begin(), nodes.end());
  }
  if (!texts.empty()) packed.texts = PackIds(ids, texts, torch::kCPU);
  if (!patches.empty()) packed.pictures = PackPatches(patches, input);
  return packed;
}

Json SampleItems(const ItemCorpus& items, const FusionInput& input) {
  int64_t room = kMostSampleDigits;
  std::vector<Sample> samples;
  for (int64_t i = 0; i < std::min(kExportedSamples, items.size()); ++i) {
    Sample sample;
    int64_t lacks = i % 4;  // 3: nothing
    const bool has[] = {!items.ids(i).empty(), !items.item(i).picture.empty(),
                        !items.nodes(i).empty()};
    if (lacks < 3 && std::ranges::count(has, true) == int64_t{has[lacks]}) lacks = 3;
    if (lacks != kTextInput) {
      sample.source = items.item(i).text.value_or("");
      sample.source_ids = items.ids(i);
    }
    if (lacks != kPictureInput && room >= 2 * input.patches.bytes())
      sample.pixels = items.Pixels(i);
    if (input.shared_width > 0) sample.shared.emplace();
    sample.nodes.emplace();
    if (lacks != kLinksInput) sample.nodes = items.nodes(i);
    if (sample.source_ids.empty() && sample.pixels.empty() && sample.nodes->empty()) continue;
    room -= 2 * std::ssize(sample.pixels);
    samples.push_back(std::move(sample));
  }
  return SamplesToJson(samples);
}

void CompleteFusionModel(const ExportedRun& run, Model* model) {
  const torch::NoGradGuard no_grad;
  const std::shared_ptr<const Vocabulary> vocabulary = VocabularyOf(run);
  model->source_vocabulary = model->target_vocabulary = vocabulary->bytes();
  model->tokenization = {{"kind", TypeName(vocabulary->type())}, {"joint", true}};
  const KnowledgeGraph graph = GraphOf(run);
  model->graph = GraphText(graph);
  nn::FusionModel module = WithoutNetwork(run, graph, *model);
  model->tensors = CopyTensors(*module);
  const PatchInput& input = model->config.fusion->patches;
  std::vector<Sample> samples;
  for (Sample& sample :
       SamplesFromJson(MemberOf<Json>(run.identity.task, "sample_items", run.where), model->config,
                       run.where)) {
    const ExampleTable table = TableOf(sample, input);
    const int64_t row = 0;
    const nn::PackedItems packed = PackItems(Examples(&table, {&row, 1}), input);
    const torch::Tensor logits_L = module(packed)[0].to(torch::kFloat64);
    const auto label = static_cast<int32_t>(logits_L.argmax().item<int64_t>());
    AddStep(logits_L, label, &sample);
    if (sample.shared) *sample.shared = SharedVectors(module, packed);
    sample.target = model->config.labels[label];
    samples.push_back(std::move(sample));
  }
  model->samples = SamplesToJson(samples);
}

}  // namespace attend
