// What an exported model of fusion is made of.
#ifndef ATTEND_TRAIN_TASKS_FUSION_FUSION_EXPORT_H_
#define ATTEND_TRAIN_TASKS_FUSION_FUSION_EXPORT_H_

#include <optional>
#include <span>
#include <vector>

#include "attend/nn/fusion_model.h"
#include "data/item_corpus.h"
#include "model/model_directory.h"
#include "train/export.h"

namespace attend {

// The network over a graph, as the run's recorded options have it; none where there is no graph.
std::optional<nn::GraphShape> GraphShapeOf(const KnowledgeGraph& graph, const Json& options,
                                           const std::string& where);

// Items of a table, whose columns are ItemCorpus'.
nn::PackedItems PackItems(const Examples& examples, const PatchInput& input);

// Some items that the exported model is to prove itself on, as samples without what it says of
// them; most lack an input.
Json SampleItems(const ItemCorpus& items, const FusionInput& input);

// As TrainableTask::complete_model promises.
void CompleteFusionModel(const ExportedRun& run, Model* model);

}  // namespace attend

#endif  // ATTEND_TRAIN_TASKS_FUSION_FUSION_EXPORT_H_
