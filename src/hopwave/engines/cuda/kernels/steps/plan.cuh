// The words of a plan's steps (planning/plan.py) as template parameters; a word with a meaning in C++ has an
// underscore after it.
#pragma once

namespace hopwave::steps {

enum class Mapping { thread, warp, block, twc, merge, edge };
enum class Output { queue, scan, dense, sort, reuse };
enum class Claim { atomic, benign };
enum class Rows { all, unvisited, compacted };
enum class Operand { frontier, visited };
enum class Balance { static_, thread, warp, donate };

}  // namespace hopwave::steps
