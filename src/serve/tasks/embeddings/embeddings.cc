#include "serve/tasks/embeddings/embeddings.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "attend/error.h"
#include "base/base64.h"
#include "serve/json_request.h"
#include "serve/openapi.h"
#include "tasks/masked_language_model/text_encoder_options.h"

namespace attend {
namespace {

enum class EncodingFormat { kFloat, kBase64 };

// What POST /v1/embeddings takes beside its texts.
struct EmbeddingsOptions {
  EncodingFormat encoding_format = EncodingFormat::kFloat;
  EmbeddingOptions embedding;
  std::string user;
};

FieldList EmbeddingsFields(EncoderRequest* asked, EmbeddingsOptions* options) {
  FieldList fields;
  fields
      .Add("encoding_format", &options->encoding_format, {"float", "base64"},
           "vectors as lists of numbers, or as the base64 of their f32, the lowest byte first")
      .Nest("", Fields(options->embedding))
      .Add("user", &options->user, "taken for the OpenAI API's sake; changes nothing")
      .Nest("", CommonFields(asked));
  return fields;
}

// Of f32, the lowest byte first.
std::string Base64OfFloats(std::span<const float> values) {
  static_assert(std::endian::native == std::endian::little);
  return Base64Of(
      std::string_view(reinterpret_cast<const char*>(values.data()), values.size_bytes()));
}

std::vector<Json> Embed(const ServedEncoder& model, std::span<EncoderText* const> texts,
                        const EmbeddingOptions& options, EncodingFormat format) {
  std::vector<Json> answers;
  const auto add = [&](std::span<const float> values, bool cut) {
    const bool base64 = format == EncodingFormat::kBase64;
    answers.push_back({{"object", "embedding"},
                       {"index", 0},
                       {"embedding", base64 ? Json(Base64OfFloats(values)) : FloatsToJson(values)},
                       {"cut", cut}});
  };
  for (const TextVector& vector : model.Embed(texts, options)) add(vector.values_D, vector.cut);
  return answers;
}

// Which the OpenAI API takes too.
void RefuseTokenIds(const Json& body) {
  const auto input = body.find("input");
  if (input == body.end() || !input->is_array() || input->empty()) return;
  const Json& first = input->front();
  if (!first.is_number() && !first.is_array()) return;
  throw Error(ErrorKind::kInput,
              "request body: input holds token ids, expected a text or a list of texts; send the "
              "texts that the ids stand for");
}

EncoderRequest ReadEmbeddings(Json body) {
  EncoderRequest asked;
  RefuseTokenIds(body);
  TakeItems(&body, "input", "input or picture", &asked);
  if (body.contains("dimensions")) {
    throw Error(ErrorKind::kUsage, "dimensions is not supported; leave it out");
  }
  EmbeddingsOptions options;
  FieldsFromJson(body, EmbeddingsFields(&asked, &options), "request body");
  const EmbeddingOptions embedding = options.embedding;
  const EncodingFormat format = options.encoding_format;
  asked.parts = true;
  asked.call = {
      fmt::format("embed {} {} {} {}", static_cast<int>(asked.reads),
                  static_cast<int>(embedding.pooling), embedding.normalize,
                  static_cast<int>(format)),
      [embedding, format](const ServedEncoder& model, std::span<EncoderText* const> texts) {
        return Embed(model, texts, embedding, format);
      }};
  return asked;
}

Json EmbeddingsToJson(EncoderJob* job) {
  Json data = Json::array();
  int64_t tokens = 0;
  for (EncoderText& text : job->texts) {
    text.answer["index"] = data.size();
    data.push_back(std::move(text.answer));
    const bool picture = !text.picture.pixels.empty();
    tokens += picture ? text.room : std::min(text.room, job->model->max_tokens());
  }
  return {{"object", "list"},
          {"data", std::move(data)},
          {"model", job->model->name()},
          {"usage", {{"prompt_tokens", tokens}, {"total_tokens", tokens}}}};
}

void DescribeEmbeddings(const ModelStore& models, Json* document) {
  Json& schemas = (*document)["components"]["schemas"];
  schemas.update(openapi::FileOf("embeddings_openapi.json"));
  EncoderRequest asked;
  EmbeddingsOptions options;
  Json& request = schemas["EmbeddingsRequest"];
  request = openapi::RequestSchema(ItemSchemas("input", "what to embed"),
                                   EmbeddingsFields(&asked, &options), models, kEmbeddingsRoute);
  RequireItems("input", &request);
  (*document)["paths"][kEmbeddingsRoute]["post"] =
      EncoderOperation("give each text or picture a vector, as the OpenAI API has it",
                       "EmbeddingsRequest", "Embeddings", ErrorForm::kOpenAi);
}

}  // namespace

EncoderRoute EmbeddingsRoute() {
  return {.path = kEmbeddingsRoute,
          .read = ReadEmbeddings,
          .answer = EmbeddingsToJson,
          .describe = DescribeEmbeddings,
          .errors = ErrorForm::kOpenAi,
          .takes_files = true};
}

}  // namespace attend
