#include "serve/tasks/classification/classification.h"

#include <fmt/format.h>

#include "attend/classifier.h"
#include "attend/error.h"
#include "serve/json_request.h"
#include "serve/openapi.h"
#include "serve/tasks/embeddings/embeddings.h"
#include "tasks/classification/classification_json.h"
#include "tasks/classification/classification_options.h"
#include "tasks/classification/picture_attention.h"
#include "tasks/encoder_attention.h"

namespace attend {
namespace {

constexpr const char* kClassifyRoute = "/v1/classify";

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
  bool attention = false;
};

FieldList ClassifyFields(EncoderRequest* asked, ClassifyOptions* options) {
  FieldList fields = Fields(options->classification);
  fields
      .Add("attention", &options->attention,
           "tell what the model looks at in each picture, as maps over its squares")
      .Nest("", CommonFields(asked));
  return fields;
}

EncoderRequest ReadClassify(Json body) {
  EncoderRequest asked;
  TakeItems(&body, "text", &asked);
  ClassifyOptions options;
  FieldsFromJson(body, ClassifyFields(&asked, &options), "request body");
  const int64_t top = options.classification.top;
  const bool attention = options.attention;
  if (attention && !asked.pictures)
    throw Error(ErrorKind::kInput, "attention is for pictures; leave it out");
  asked.answer_items = top * std::ssize(asked.texts);
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
  EncoderRequest asked;
  ClassifyOptions options;
  Json& request = schemas["ClassifyRequest"];
  request = openapi::RequestSchema(ItemSchemas("text", "what to classify"),
                                   ClassifyFields(&asked, &options), models, kClassifyRoute);
  RequireItems("text", &request);
  (*document)["paths"][kClassifyRoute]["post"] =
      EncoderOperation("tell the class of texts or pictures", "ClassifyRequest", "ClassifyResults");
}

}  // namespace

std::shared_ptr<ServedModel> ServeClassification(const ModelToServe& model,
                                                 const ServeOptions& options, WorkPool* pool) {
  return std::make_shared<ServedClassifier>(model, options, pool);
}

EncoderRoute ClassificationRoute() {
  return {kClassifyRoute, ReadClassify, ResultsToJson, DescribeClassify};
}

}  // namespace attend
