#include "serve/tasks/classification/classification.h"

#include <fmt/format.h>

#include "attend/classifier.h"
#include "attend/error.h"
#include "serve/json_request.h"
#include "serve/openapi.h"
#include "serve/tasks/embeddings/embeddings.h"
#include "tasks/classification/classification_json.h"
#include "tasks/classification/classification_options.h"

namespace attend {
namespace {

constexpr const char* kClassifyRoute = "/v1/classify";

class ServedClassifier final : public ServedEncoder {
 public:
  ServedClassifier(const ModelToServe& model, const ServeOptions& options, WorkPool* pool)
      : ServedEncoder(model, {kClassifyRoute, kEmbeddingsRoute}, options, pool),
        classifier_(loaded(), kCallersThread) {
    if (classifier_.reads_pictures()) {
      throw Error(ErrorKind::kUsage,
                  "the model reads pictures, which the service does not take; run it with `attend "
                  "classify`");
    }
  }
  ~ServedClassifier() override { Stop(); }

  std::vector<Json> Classify(std::span<EncoderText* const> texts, int64_t top) const {
    const std::vector<Classification> found = classifier_.Classify(TextsOf(texts));
    std::vector<Json> answers;
    for (size_t i = 0; i < texts.size(); ++i)
      answers.push_back(ClassificationToJson(texts[i]->text, found[i], top));
    return answers;
  }

 private:
  const Classifier classifier_;
};

FieldList ClassifyFields(EncoderRequest* asked, ClassificationOptions* options) {
  FieldList fields = Fields(*options);
  fields.Nest("", CommonFields(asked));
  return fields;
}

EncoderRequest ReadClassify(Json body) {
  EncoderRequest asked;
  asked.texts = TakeTexts(&body, "text");
  ClassificationOptions options;
  FieldsFromJson(body, ClassifyFields(&asked, &options), "request body");
  const int64_t top = options.top;
  asked.answer_items = top * std::ssize(asked.texts);
  asked.call = {fmt::format("classify {}", top),
                [top](const ServedEncoder& model, std::span<EncoderText* const> texts) {
                  return static_cast<const ServedClassifier&>(model).Classify(texts, top);
                }};
  return asked;
}

void DescribeClassify(const ModelStore& models, Json* document) {
  Json& schemas = (*document)["components"]["schemas"];
  schemas.update(openapi::FileOf("classification_openapi.json"));
  EncoderRequest asked;
  ClassificationOptions options;
  Json& request = schemas["ClassifyRequest"];
  request = openapi::RequestSchema({{"text", openapi::TextOrMoreTexts("what to classify")}},
                                   ClassifyFields(&asked, &options), models, kClassifyRoute);
  request["required"] = {"text"};
  (*document)["paths"][kClassifyRoute]["post"] =
      EncoderOperation("tell the class of texts", "ClassifyRequest", "ClassifyResults");
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
