// What the signatures of all metrics have; those that equal sacreBLEU's end with its version.
#ifndef ATTEND_METRICS_SIGNATURE_H_
#define ATTEND_METRICS_SIGNATURE_H_

#include <cstddef>
#include <string>

namespace attend {

// "nrefs:1|case:mixed". `references` as Metric::Signature has them.
std::string SignatureOf(size_t references, const std::string& settings);

}  // namespace attend

#endif  // ATTEND_METRICS_SIGNATURE_H_
