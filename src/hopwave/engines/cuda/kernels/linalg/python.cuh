// Python's arithmetic where C++ differs: division, remainder, power. Includes no header, so that a test can compile it
// for the host.
#pragma once

namespace hopwave::linalg {

template <class T>
constexpr bool is_floating = (T)0.5 != 0;

__device__ inline double double_of(long long bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

template <class X>
__device__ inline X absolute(X x) {
  return x < 0 ? -x : x;
}
__device__ inline int absolute(bool x) { return x; }

__device__ inline float quotient(float x, float y) { return x / y; }
template <class X, class Y>
__device__ inline double quotient(X x, Y y) {
  return (double)x / (double)y;
}

// Rounded towards -∞, and a remainder with the divisor's sign; 0 for integers divided by 0, an error in Python.
template <class X, class Y>
__device__ inline auto floor_quotient(X x, Y y) -> decltype(x / y) {
  if constexpr (is_floating<decltype(x / y)>) {
    return floor(x / y);
  } else {
    if (y == 0) return 0;
    const auto whole = x / y;
    return whole * y != x && (x < 0) != (y < 0) ? whole - 1 : whole;
  }
}

template <class X, class Y>
__device__ inline auto modulo(X x, Y y) -> decltype(x / y) {
  if constexpr (is_floating<decltype(x / y)>) {
    const auto rest = fmod((double)x, (double)y);
    return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
  } else {
    return y == 0 ? 0 : x - floor_quotient(x, y) * y;
  }
}

template <class X, class Y>
__device__ inline auto power(X x, Y y) -> decltype(x * y) {
  if constexpr (is_floating<decltype(x * y)>) {
    return pow((double)x, (double)y);
  } else {
    decltype(x * y) result = 1, factor = x;
    for (auto left = y; left > 0; left /= 2) {
      if (left % 2) result *= factor;
      factor *= factor;
    }
    return result;
  }
}

}  // namespace hopwave::linalg
