// What the engine's tests compare with: the paper's Transformer in f64, and small random models.
#ifndef ATTEND_ENGINE_PLAIN_TRANSFORMER_H_
#define ATTEND_ENGINE_PLAIN_TRANSFORMER_H_

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <numbers>
#include <numeric>
#include <string>
#include <vector>

#include "model/model_fixture.h"

namespace attend {

using Matrix = std::vector<std::vector<double>>;

// The formulas of the paper in f64, written without any of the engine's code.
class Plain {
 public:
  // An int8 model is computed as it is meant: whole weights times scales, and what enters a product
  // rounded to 255 steps a row.
  explicit Plain(const Model& model) : model_(model) {}

  std::vector<double> LogProbabilities(std::vector<int32_t> source, std::vector<int32_t> target) {
    const ModelConfig& config = model_.config;
    source.insert(source.begin(), config.source_begin.begin(), config.source_begin.end());
    if (config.source_eos) source.push_back(3);
    source.insert(source.end(), config.source_end.begin(), config.source_end.end());
    std::vector<int32_t> read = {2};
    read.insert(read.end(), config.target_begin.begin(), config.target_begin.end());
    read.insert(read.end(), target.begin(), target.end());
    const Matrix logits = Logits(source, read);
    target.push_back(3);
    std::vector<double> result;
    for (size_t t = 0; t < target.size(); ++t) {
      const std::vector<double>& row = logits[config.target_begin.size() + t];
      double sum = 0;
      for (const double logit : row) sum += std::exp(logit);
      result.push_back(row[target[t]] - std::log(sum));
    }
    return result;
  }

  // What the encoder makes of these ids.
  Matrix Encode(const std::vector<int32_t>& ids) {
    const StackConfig& config = *model_.config.encoder;
    return Layers("encoder", config, Embed("encoder", config, "encoder.embedding.weight", ids), {});
  }

  // What it makes of these patches, or of these frames.
  Matrix Encode(const Matrix& numbers) {
    const StackConfig& config = *model_.config.encoder;
    Matrix x = model_.config.patches ? Patches(numbers) : Convolutions(numbers);
    for (size_t t = 0; t < x.size(); ++t)
      for (int64_t d = 0; d < config.d_model; ++d) x[t][d] += Position(config, "encoder", t, d);
    if (config.embedding_norm) x = Norm(x, "encoder.embedding_norm", config);
    return Layers("encoder", config, x, {});
  }

  // [T, V] after each id that the decoder reads. A model without encoder reads no source; another
  // one ids or frames. `next_words`, if any: where in the source what is added to each id stands.
  template <class Input = std::vector<int32_t>>
  Matrix Logits(const Input& source, const std::vector<int32_t>& read,
                const std::vector<int32_t>& next_words = {}) {
    const ModelConfig& config = model_.config;
    const bool tied = config.encoder && config.tie_source_target;
    const std::string embedding = tied ? "encoder.embedding.weight" : "decoder.embedding.weight";
    const Matrix memory = config.encoder ? Encode(source) : Matrix();
    Matrix added;
    for (const int32_t place : next_words) added.push_back(memory[place]);
    Matrix x = Embed("decoder", *config.decoder, embedding, read);
    for (size_t t = 0; t < added.size(); ++t)
      for (size_t d = 0; d < x[t].size(); ++d) x[t][d] += added[t][d];
    const Matrix hidden = Layers("decoder", *config.decoder, x, memory);
    return Product(hidden, config.tie_target_output ? embedding : "head.weight", "head.bias");
  }

  // Of an encoder with a head: a row for each id, or one for the text; of ids or patches.
  template <class Input>
  Matrix EncoderLogits(const Input& input) {
    const ModelConfig& config = model_.config;
    Matrix x = Encode(input);
    const double rows = static_cast<double>(x.size());
    if (config.pooling == Pooling::kMean) {
      for (double& value : x[0]) value /= rows;
      for (size_t t = 1; t < x.size(); ++t) {
        for (size_t d = 0; d < x[0].size(); ++d) x[0][d] += x[t][d] / rows;
      }
    }
    if (config.pooling != Pooling::kTokens) x.resize(1);
    if (config.head_pooler) {
      x = Linear(x, "head.pooler");
      const bool relu = config.pooler_activation == PoolerActivation::kRelu;
      for (double& value : x[0]) value = relu ? std::max(value, 0.0) : std::tanh(value);
    }
    if (config.head_transform) {
      x = Linear(x, "head.transform");
      for (std::vector<double>& row : x) {
        for (double& v : row) v *= 0.5 * (1 + std::erf(v / std::sqrt(2.0)));
      }
      x = Norm(x, "head.norm", *config.encoder);
    }
    const bool tied = config.head == HeadKind::kVocabulary && config.tie_target_output;
    return Product(x, tied ? "encoder.embedding.weight" : "head.weight", "head.bias");
  }

  // Of the last call, by the name of the attention: [heads][queries][keys].
  std::map<std::string, std::vector<Matrix>> attention;

 private:
  double Weight(const std::string& name, int64_t row, int64_t column) {
    const TensorView& w = model_.tensors.Get(name);
    const int64_t at = row * w.shape[1] + column;
    if (w.type == TensorType::kF32) return w.f32()[at];
    return static_cast<double>(w.i8()[at]) * model_.tensors.Get(name + "_scale").f32()[row];
  }
  static Matrix Rounded(Matrix x) {
    for (std::vector<double>& row : x) {
      double largest = 0;
      for (const double value : row) largest = std::max(largest, std::abs(value));
      for (double& value : row) value = std::nearbyint(value / largest * 127) * largest / 127;
    }
    return x;
  }
  Matrix Product(const Matrix& given, const std::string& weight, const std::string& bias) {
    const TensorView& w = model_.tensors.Get(weight);
    const Matrix x = w.type == TensorType::kI8 ? Rounded(given) : given;
    const TensorView* b = model_.tensors.Find(bias);
    Matrix y(x.size(), std::vector<double>(w.shape[0]));
    for (size_t r = 0; r < x.size(); ++r) {
      for (int64_t c = 0; c < w.shape[0]; ++c) {
        y[r][c] = b != nullptr ? b->f32()[c] : 0;
        for (int64_t k = 0; k < w.shape[1]; ++k) y[r][c] += x[r][k] * Weight(weight, c, k);
      }
    }
    return y;
  }
  Matrix Linear(const Matrix& x, const std::string& name) {
    return Product(x, name + ".weight", name + ".bias");
  }
  Matrix Norm(Matrix x, const std::string& name, const StackConfig& c) {
    const float* gain = model_.tensors.Get(name + ".weight").f32();
    const bool rms = c.norm == NormKind::kRmsNorm;
    const float* bias = rms ? nullptr : model_.tensors.Get(name + ".bias").f32();
    for (std::vector<double>& row : x) {
      const double n = static_cast<double>(row.size());
      const double mean = rms ? 0 : std::accumulate(row.begin(), row.end(), 0.0) / n;
      double variance = 0;
      for (const double v : row) variance += (v - mean) * (v - mean) / n;
      for (size_t i = 0; i < row.size(); ++i) {
        row[i] = (row[i] - mean) / std::sqrt(variance + c.norm_epsilon) * gain[i];
        row[i] += rms ? 0 : bias[i];
      }
    }
    return x;
  }
  // T5's.
  static int64_t Bucket(int64_t distance, bool both_ways, const StackConfig& c) {
    const int64_t count = both_ways ? c.relative_buckets / 2 : c.relative_buckets;
    const int64_t first = distance > 0 ? count : 0, apart = std::abs(distance), exact = count / 2;
    if (apart < exact) return first + apart;
    const double share =
        std::log(static_cast<double>(apart) / static_cast<double>(exact)) /
        std::log(static_cast<double>(c.relative_max_distance) / static_cast<double>(exact));
    const auto step = static_cast<int64_t>(share * static_cast<double>(count - exact));
    return first + std::min(exact + step, count - 1);
  }
  Matrix Attend(const Matrix& x, const Matrix& memory, const std::string& name,
                const StackConfig& c, bool causal) {
    const Matrix q = Linear(x, name + ".query"), k = Linear(memory, name + ".key"),
                 v = Linear(memory, name + ".value");
    const int64_t dk = c.key_width(), dv = c.value_width();
    Matrix context(x.size(), std::vector<double>(c.heads * dv));
    std::vector<Matrix>& kept = attention[name];
    kept.assign(c.heads, Matrix(x.size()));
    for (int64_t h = 0; h < c.heads; ++h) {
      for (size_t t = 0; t < x.size(); ++t) {
        const size_t seen = causal ? t + 1 : memory.size();
        std::vector<double> weight(seen);
        double sum = 0;
        for (size_t s = 0; s < seen; ++s) {
          double dot = 0;
          for (int64_t i = 0; i < dk; ++i) dot += q[t][h * dk + i] * k[s][h * dk + i];
          dot /= std::sqrt(static_cast<double>(dk));
          if (name.ends_with("self_attention") && c.positions == PositionKind::kRelative) {
            const auto distance = static_cast<int64_t>(s) - static_cast<int64_t>(t);
            dot += Weight(name.substr(0, name.find('.')) + ".relative_bias.weight",
                          Bucket(distance, !causal, c), h);
          }
          const auto apart = std::abs(static_cast<int64_t>(s) - static_cast<int64_t>(t));
          const bool near = !name.ends_with("self_attention") || c.attention_window == 0 ||
                            apart <= c.attention_window;
          sum += weight[s] = near ? std::exp(dot) : 0;
        }
        for (double& w : weight) w /= sum;
        for (size_t s = 0; s < seen; ++s) {
          for (int64_t i = 0; i < dv; ++i) {
            context[t][h * dv + i] += weight[s] * v[s][h * dv + i];
          }
        }
        kept[h][t] = std::move(weight);
      }
    }
    return Linear(context, name + ".output");
  }
  Matrix Recur(const Matrix& x, const std::string& name) {
    Matrix state = Linear(x, name + ".input");
    const Matrix forget = Linear(x, name + ".forget");
    for (size_t t = 0; t < x.size(); ++t) {
      for (size_t i = 0; i < state[t].size(); ++i) {
        const double f = 1 / (1 + std::exp(-forget[t][i]));
        state[t][i] = f * (t > 0 ? state[t - 1][i] : 0) + (1 - f) * state[t][i];
      }
    }
    for (std::vector<double>& row : state)
      for (double& v : row) v = std::max(v, 0.0);
    return state;
  }
  Matrix Patches(const Matrix& patches) {
    Matrix x = Linear(patches, "encoder.patches");
    if (model_.config.patches->class_token) {
      const float* token = model_.tensors.Get("encoder.patches.class_token").f32();
      x.insert(x.begin(), {token, token + model_.config.encoder->d_model});
    }
    return x;
  }
  // Row t of a convolution reads those around row t * stride, zeros beyond the ends.
  Matrix Convolutions(Matrix x) {
    const FrameInput& frames = *model_.config.frames;
    for (size_t n = 0; n < frames.kernels.size(); ++n) {
      const int64_t rows = std::ssize(x), kernel = frames.kernels[n];
      Matrix windows;
      for (int64_t middle = 0; middle < rows; middle += frames.strides[n]) {
        std::vector<double>& window = windows.emplace_back();
        for (int64_t row = middle - kernel / 2; row <= middle + kernel / 2; ++row) {
          const bool beyond = row < 0 || row >= rows;
          for (size_t i = 0; i < x[0].size(); ++i) window.push_back(beyond ? 0 : x[row][i]);
        }
      }
      x = Linear(windows, "encoder.convolutions." + std::to_string(n));
      for (std::vector<double>& row : x)
        for (double& v : row) v *= 0.5 * (1 + std::erf(v / std::sqrt(2.0)));
    }
    return x;
  }
  static double GeluTanh(double x) {
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
  }
  Matrix FeedForward(const Matrix& x, const std::string& name, const StackConfig& c) {
    Matrix inner = Linear(x, name + ".inner");
    Matrix gate = IsGated(c.activation) ? Linear(x, name + ".gate") : inner;
    for (size_t r = 0; r < x.size(); ++r) {
      for (size_t i = 0; i < inner[r].size(); ++i) {
        double& v = inner[r][i];
        const double g = gate[r][i];
        if (c.activation == Activation::kRelu) v = std::max(v, 0.0);
        if (c.activation == Activation::kGelu) v *= 0.5 * (1 + std::erf(v / std::sqrt(2.0)));
        if (c.activation == Activation::kSwiGlu) v *= g / (1 + std::exp(-g));
        if (c.activation == Activation::kSilu) v /= 1 + std::exp(-v);
        if (c.activation == Activation::kGeluTanh) v = GeluTanh(v);
        if (c.activation == Activation::kGeGluTanh) v *= GeluTanh(g);
      }
    }
    return Linear(inner, name + ".outer");
  }
  double Position(const StackConfig& c, const std::string& name, int64_t position, int64_t column) {
    position += c.position_offset;
    if (c.positions == PositionKind::kNone || c.positions == PositionKind::kRelative) return 0;
    if (c.positions == PositionKind::kLearned) {
      return model_.tensors.Get(name + ".positions.weight").f32()[position * c.d_model + column];
    }
    const bool halves = c.position_convention != SinusoidConvention::kInterleaved;
    const bool timing = c.position_convention == SinusoidConvention::kTimingSignal;
    const int64_t half = c.d_model / 2, i = halves ? column % half : column / 2;
    const double exponent = static_cast<double>(i) / static_cast<double>(timing ? half - 1 : half);
    const double angle = static_cast<double>(position) / std::pow(10000.0, exponent);
    return (halves ? column < c.d_model / 2 : column % 2 == 0) ? std::sin(angle) : std::cos(angle);
  }
  Matrix Embed(const std::string& name, const StackConfig& c, const std::string& embedding,
               const std::vector<int32_t>& ids) {
    Matrix x(ids.size(), std::vector<double>(c.d_model));
    for (size_t t = 0; t < ids.size(); ++t) {
      for (int64_t d = 0; d < c.d_model; ++d) {
        const double scale = c.scale_embedding ? std::sqrt(static_cast<double>(c.d_model)) : 1;
        const double token = ids[t] < 0 ? 0 : scale * Weight(embedding, ids[t], d);
        x[t][d] = token + Position(c, name, t, d);
      }
    }
    return c.embedding_norm ? Norm(x, name + ".embedding_norm", c) : x;
  }
  Matrix Layers(const std::string& name, const StackConfig& c, Matrix x, const Matrix& memory) {
    const bool pre = c.norm_place == NormPlace::kPre;
    const auto sublayer = [&](const std::string& norm, auto f) {
      Matrix y = f(pre ? Norm(x, norm, c) : x);
      for (size_t t = 0; t < x.size(); ++t) {
        for (int64_t d = 0; d < c.d_model; ++d) x[t][d] += y[t][d];
      }
      if (!pre) x = Norm(x, norm, c);
    };
    for (int64_t i = 0; i < c.layers; ++i) {
      const std::string layer = name + ".layers." + std::to_string(i) + ".";
      if (c.recurrence == Recurrence::kSsru) {
        sublayer(layer + "recurrence_norm",
                 [&](const Matrix& in) { return Recur(in, layer + "recurrence"); });
      } else
        sublayer(layer + "self_attention_norm", [&](const Matrix& in) {
          return Attend(in, in, layer + "self_attention", c, name == "decoder");
        });
      if (name == "decoder" && model_.config.encoder) {
        sublayer(layer + "cross_attention_norm", [&](const Matrix& in) {
          return Attend(in, memory, layer + "cross_attention", c, false);
        });
      }
      sublayer(layer + "feed_forward_norm",
               [&](const Matrix& in) { return FeedForward(in, layer + "feed_forward", c); });
    }
    return pre ? Norm(x, name + ".norm", c) : x;
  }

  const Model& model_;
};

inline std::shared_ptr<const Model> MakeModel(const ModelConfig& config, uint64_t seed = 7) {
  auto model = std::make_shared<Model>();
  model->config = config;
  model->tensors = RandomTensors(config, seed, 0.2);
  return model;
}

inline std::vector<std::vector<int32_t>> RandomSentences(int64_t count, int64_t longest,
                                                         uint64_t seed) {
  Random random({seed});
  std::vector<std::vector<int32_t>> sentences(count);
  for (std::vector<int32_t>& sentence : sentences) {
    sentence.resize(1 + random.Below(longest));
    for (int32_t& id : sentence) id = static_cast<int32_t>(4 + random.Below(36));
  }
  return sentences;
}

}  // namespace attend

#endif  // ATTEND_ENGINE_PLAIN_TRANSFORMER_H_
