// SPDX-License-Identifier: MIT
// Everything: #include <tenon/tenon.h>.
#pragma once

#include "tenon/creation.h"
#include "tenon/dtype.h"
#include "tenon/error.h"
#include "tenon/explain.h"
#include "tenon/functions.h"
#include "tenon/io.h"
#include "tenon/ops.h"
#include "tenon/stats.h"
#include "tenon/tensor.h"
