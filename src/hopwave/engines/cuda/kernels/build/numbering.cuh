// Vertices were renumbered for a search; this puts its answers back into the order of ids.
#pragma once
#include "common/threads.cuh"

namespace hopwave::build {

// One thread per four vertices. out[v] = values[numbers[v]]. If `ids` is not null, values are numbers too, or -1, and
// become ids. Data that is read or written once is marked to leave the caches first.
template <class Offset>
__global__ void spread(const int *numbers, const int *values, const int *ids, i64 n, int *out) {
  auto id = [&](int number) { return number < 0 ? number : __ldg(ids + number); };
  for (i64 i = signed_thread_number(); i < n / 4; i += signed_thread_count()) {
    const int4 at = __ldcs((const int4 *)numbers + i);
    int4 x = make_int4(__ldg(values + at.x), __ldg(values + at.y), __ldg(values + at.z), __ldg(values + at.w));
    if (ids) x = make_int4(id(x.x), id(x.y), id(x.z), id(x.w));
    __stcs((int4 *)out + i, x);
  }
  const i64 v = n / 4 * 4 + signed_thread_number();
  if (v < n) out[v] = ids ? id(values[numbers[v]]) : values[numbers[v]];
}

}  // namespace hopwave::build
