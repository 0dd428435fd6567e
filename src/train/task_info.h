// What is said of a task in plain data: the parts of its models, and how people read its figures.
#ifndef ATTEND_TRAIN_TASK_INFO_H_
#define ATTEND_TRAIN_TASK_INFO_H_

#include <optional>
#include <string>
#include <vector>

namespace attend {

// A number that tells how good a model is.
struct Figure {
  std::string name;   // in metrics.jsonl and result.json
  std::string label;  // for people: "BLEU"
  bool high_is_better = false;
};

// Curves that report.html shows together.
struct FigureChart {
  std::string title, axis;
  std::vector<std::string> figures;  // by name
  std::optional<double> most;        // that they can be
};

struct TaskInfo {
  std::string name;
  bool encoder = false, decoder = false;  // the stacks that its models have
  std::string preset = "base";            // where a run names none
  std::string picture_preset;         // where a run of pictures names none; empty: it reads none
  bool reads_sound = false;           // an encoder reads frames
  bool reads_items = false;           // an encoder joins the inputs of items
  bool init_without_decoder = false;  // the model to fine-tune may be an encoder of another task
  std::string validation_options;     // that give its text: "valid_source and valid_target"
  std::vector<Figure> validation;     // early_stopping_metric names one; "loss" is the first
  std::vector<FigureChart> charts;    // of these, beside that of the loss
  std::vector<Figure> test;
  std::string target = "target token";  // what losses and speeds are of: "example"
  std::string samples;                  // what the report's samples are: "Sample translations"
  std::string sample_input;             // and what stands before the model in them: "source"
};

}  // namespace attend

#endif  // ATTEND_TRAIN_TASK_INFO_H_
