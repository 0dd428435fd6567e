#include "serve/tasks/classification/classification.h"

#include <fmt/format.h>

#include "attend/classifier.h"
#include "attend/error.h"
#include "serve/json_request.h"
#include "serve/openapi.h"
#include "serve/tasks/fusion/fusion.h"
#include "tasks/classification/classification_json.h"
#include "tasks/classification/classification_options.h"
#include "tasks/classification/picture_attention.h"
#include "tasks/encoder_attention.h"

namespace attend {
namespace {

class ServedClassifier final : public ServedEncoder {
 public:
  ServedClassifier(const ModelToServe& model, const ServeOptions& options, WorkPool* pool)
      : ServedEncoder(model, {kClassifyRoute, kEmbeddingsRoute}, options, pool),
        classifier_(loaded(), kCallersThread) {}
  ~ServedClassifier() override { Stop(); }

  std::vector<Json> Classify(std::span<EncoderText* const> texts, int64_t top,
                             bool attention) const {
    const bool pictures = reads_pictures();
    const std::vector<Classification> found = pictures ? classifier_.ClassifyPixels(PixelsOf(texts))
                                                       : classifier_.Classify(TextsOf(texts));
    std::vector<Json> answers;
    for (size_t i = 0; i < texts.size(); ++i) {
      if (!pictures) {
        answers.push_back(ClassificationToJson(texts[i]->text, found[i], top));
        continue;
      }
      Json& answer = answers.emplace_back(Json{{"classes", ClassesToJson(found[i], top)}});
      if (attention) answer["attention"] = AttentionOf(texts[i]->picture);
    }
    return answers;
  }

 private:
  Json AttentionOf(const Picture& picture) const {
    return PictureAttentionToJson(
        PictureAttentionOf(AttentionOfPicture(*loaded(), picture.pixels), config()), picture);
  }

  const Classifier classifier_;
};

struct ClassifyOptions {
  ClassificationOptions classification;
  ItemQuestions questions;
};

FieldList ClassifyFields(EncoderRequest* asked, ClassifyOptions* options) {
  FieldList fields = Fields(options->classification);
  fields
      .Add("attention", &options->questions.attention,
           "tell what the model looks at in each picture or item")
      .Nest("", ItemFields(&options->questions))
      .Nest("", CommonFields(asked));
  return fields;
}

EncoderRequest ReadClassify(Json body) {
  EncoderRequest asked;
  if (!TakeFusionItems(&body, "text", &asked))
    TakeItems(&body, "text", "text, picture or item", &asked);
  ClassifyOptions options;
  FieldsFromJson(body, ClassifyFields(&asked, &options), "request body");
  const int64_t top = options.classification.top;
  if (asked.reads == EncoderReads::kItems) {
    AskAboutItems(options.questions, top, &asked);
    return asked;
  }
  const bool attention = options.questions.attention;
  if (attention && asked.reads == EncoderReads::kTexts)
    throw Error(ErrorKind::kInput, "attention is for pictures and items; leave it out");
  RefuseItemQuestions(options.questions);
  asked.answer_items = (top + (attention ? kNumbersOfAttention : 0)) * asked.count();
  asked.call = {fmt::format("classify {} {}", top, attention),
                [top, attention](const ServedEncoder& model, std::span<EncoderText* const> texts) {
                  return static_cast<const ServedClassifier&>(model).Classify(texts, top,
                                                                              attention);
                }};
  return asked;
}

void DescribeClassify(const ModelStore& models, Json* document) {
  Json& schemas = (*document)["components"]["schemas"];
  schemas.update(openapi::FileOf("classification_openapi.json"));
  schemas.update(openapi::FileOf("fusion_openapi.json"));
  EncoderRequest asked;
  ClassifyOptions options;
  Json& request = schemas["ClassifyRequest"];
  Json inputs = ItemSchemas("text", "what to classify");
  const Json of_items = FusionItemSchemas();
  inputs.update(of_items);
  request = openapi::RequestSchema(std::move(inputs), ClassifyFields(&asked, &options), models,
                                   kClassifyRoute);
  RequireItems("text", &request);
  for (const auto& [name, schema] : of_items.items())
    request["oneOf"].push_back({{"required", {name}}});
  (*document)["paths"][kClassifyRoute]["post"] = EncoderOperation(
      "tell the class of texts, pictures or items", "ClassifyRequest", "ClassifyResults");
}

}  // namespace

std::shared_ptr<ServedModel> ServeClassification(const ModelToServe& model,
                                                 const ServeOptions& options, WorkPool* pool) {
  return std::make_shared<ServedClassifier>(model, options, pool);
}

EncoderRoute ClassificationRoute() {
  return {.path = kClassifyRoute,
          .read = ReadClassify,
          .answer = ResultsToJson,
          .describe = DescribeClassify,
          .takes_files = true};
}

}  // namespace attend
