// The program `attend`: dispatch only. Each command is in the file that bears its name.
#include "cli/command_line.h"
#include "cli/commands.h"

int main(int argc, char** argv) {
  const std::vector<attend::Command> commands = {
      {"align", "tell which words of parallel text are translations of each other",
       attend::RunAlign},
      {"annotate", "write terms into the source side of parallel text", attend::RunAnnotate},
      {"attention", "show what the model looks at", attend::RunAttention},
      {"back-translate", "train on text of the target language alone, too",
       attend::RunBackTranslate},
      {"bench", "measure the speed of running or training models", attend::RunBench},
      {"classify", "tell the class of texts, pictures or items", attend::RunClassify},
      {"clean", "drop what is not worth training on", attend::RunClean},
      {"compare", "show training runs side by side", attend::RunCompare},
      {"distill", "train a small model on what a large one writes", attend::RunDistill},
      {"embed", "give each text, picture, recording or item a vector", attend::RunEmbed},
      {"evaluate", "score translations, transcripts, entities, classes and trees",
       attend::RunEvaluate},
      {"export", "make a model of checkpoints or of an adapter, or give one to another toolkit",
       attend::RunExport},
      {"extend", "add tokens to a model's vocabulary", attend::RunExtend},
      {"fill", "tell what fits where a token is hidden", attend::RunFill},
      {"generate", "write on from prompts with a language model", attend::RunGenerate},
      {"health", "tell whether a running service is healthy", attend::RunHealth},
      {"import", "make a model directory from a model of another toolkit", attend::RunImport},
      {"inspect", "show what a model directory holds", attend::RunInspect},
      {"match", "find texts, or ones like them, in a translation memory", attend::RunMatch},
      {"paper", "make a table or the figures of the paper on this machine", attend::RunPaper},
      {"parse", "build the constituency trees of sentences", attend::RunParse},
      {"quantize", "store a model's weights in int8", attend::RunQuantize},
      {"rerank", "order n-best lists anew by further models", attend::RunRerank},
      {"score", "log-probability of given texts", attend::RunScore},
      {"serve", "run models of every task over HTTP", attend::RunServe},
      {"shortlist", "learn which words may translate which", attend::RunShortlist},
      {"tag", "label the words of texts", attend::RunTag},
      {"train", "train a model as a recipe says", attend::RunTrainLauncher},
      {"transcribe", "write down what is said in recordings", attend::RunTranscribe},
      {"translate", "translate text, line by line", attend::RunTranslate},
      {"translate-file", "translate a document, its formatting kept", attend::RunTranslateFile},
      {"verify", "check a model's digests and replay its samples", attend::RunVerify},
      {"vocab", "train a SentencePiece vocabulary", attend::RunVocab},
  };
  return attend::RunProgram(commands, argc, argv);
}
