// The words of a plan's steps (hopwave/planning/plan.py) as template parameters. A word that is a C++ keyword gets an
// underscore after it.
#pragma once

namespace hopwave::steps {

enum class Mapping { thread, warp, twc, merge, edge };  // warp: only in pulls
enum class Output { queue, scan, dense, sort, reuse };
enum class Claim { atomic, benign };
enum class Rows { all, unvisited, compacted };
enum class Operand { frontier, visited };
enum class Balance { static_, thread, warp, donate };

}  // namespace hopwave::steps
