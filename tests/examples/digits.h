// SPDX-License-Identifier: MIT
// A network that reads handwritten digits: 64 grey values, 64 hidden units, 10 classes. Plain array code, with the
// gradients written by hand.
//
// Data: data/README.md. Every fifth image is held out; the others are seen in batches of 64.
#pragma once

#include <tenon/tenon.h>

#include <string>
#include <vector>

namespace digits {

namespace tn = tenon;

constexpr std::int64_t kBatch = 64, kPixels = 64, kHidden = 64, kClasses = 10;

struct Data {
  tn::Tensor images;           ///< float32 [batches, 64, 64], 0 to 1
  tn::Tensor targets;          ///< float32 [batches, 64, 10], one-hot
  tn::Tensor held_out_images;  ///< float32 [359, 64]
  tn::Tensor held_out_labels;  ///< int64 [359]
};

/// The rows whose number modulo 5 is not 4, as many as fill batches: [batches, kBatch, ...].
inline tn::Tensor in_batches(const tn::Tensor& rows) {
  std::vector<tn::Tensor> parts;
  for (int first = 0; first < 4; ++first) parts.push_back(rows[{tn::slice(first, 1795, 5)}]);
  tn::Dims shape = rows.shape();
  const std::int64_t batches = 4 * 359 / kBatch;
  shape.insert(shape.begin(), batches);
  shape[1] = kBatch;
  return tn::reshape(tn::concat(parts)[{tn::slice(0, batches * kBatch)}], shape);
}

inline Data load(const std::string& folder) {
  const tn::Tensor grey =
      tn::reshape(tn::load(folder + "/digits_images.npy"), {1797, kPixels}).astype(tn::DType::kFloat32);
  const tn::Tensor labels = tn::load(folder + "/digits_labels.npy").astype(tn::DType::kInt64);
  const tn::Tensor images = grey / 16;
  Data data = {in_batches(images), in_batches(tn::one_hot(labels, kClasses)), images[{tn::slice(4, tn::none, 5)}],
               labels[{tn::slice(4, tn::none, 5)}]};
  tn::eval(data.images, data.targets, data.held_out_images, data.held_out_labels);
  return data;
}

/// Weights of both layers and their biases, and the momentum of each.
struct Network {
  tn::Tensor w1, b1, w2, b2;
  tn::Tensor v1 = tn::zeros_like(w1), c1 = tn::zeros_like(b1), v2 = tn::zeros_like(w2), c2 = tn::zeros_like(b2);

  std::vector<tn::Tensor> tensors() const { return {w1, b1, w2, b2, v1, c1, v2, c2}; }
};

inline Network make_network() {
  Network net = {.w1 = tn::random::normal({kPixels, kHidden}, tn::seed(1)) * 0.18,
                 .b1 = tn::zeros({kHidden}),
                 .w2 = tn::random::normal({kHidden, kClasses}, tn::seed(2)) * 0.18,
                 .b2 = tn::zeros({kClasses})};
  tn::eval(net.tensors());
  return net;
}

/// x [n, 64] to the hidden layer [n, 64].
inline tn::Tensor hidden(const Network& net, const tn::Tensor& x) { return tn::relu(tn::matmul(x, net.w1) + net.b1); }

/// Scores of the classes: [n, 10].
inline tn::Tensor scores(const Network& net, const tn::Tensor& h) { return tn::matmul(h, net.w2) + net.b2; }

/// p -= rate * v, where v is the gradient with momentum.
inline void descend(tn::Tensor& p, tn::Tensor& v, const tn::Tensor& gradient, double rate) {
  v = 0.9 * v + gradient;
  p -= rate * v;
}

/// Traces one step of stochastic gradient descent, and computes nothing; returns the loss of the batch before the step
/// (0-d).
inline tn::Tensor step(Network& net, const tn::Tensor& x, const tn::Tensor& target, double rate) {
  const tn::Tensor h = hidden(net, x);
  const tn::Tensor z = scores(net, h);
  const tn::Tensor loss = tn::mean(tn::logsumexp(z, -1) - tn::sum(target * z, -1));

  const tn::Tensor dz = (tn::softmax(z) - target) / kBatch;
  const tn::Tensor dh = tn::where(h > 0, tn::matmul(dz, tn::transpose(net.w2)), 0);
  descend(net.w2, net.v2, tn::matmul(tn::transpose(h), dz), rate);
  descend(net.b2, net.c2, tn::sum(dz, 0), rate);
  descend(net.w1, net.v1, tn::matmul(tn::transpose(x), dh), rate);
  descend(net.b1, net.c1, tn::sum(dh, 0), rate);
  return loss;
}

/// All that a step makes, to be asked for together: forward, backward and update are one program.
inline std::vector<tn::Tensor> results(const Network& net, const tn::Tensor& loss) {
  std::vector<tn::Tensor> all = net.tensors();
  all.push_back(loss);
  return all;
}

/// Share of the held-out images that are read rightly.
inline float accuracy(const Network& net, const Data& data) {
  const tn::Tensor answer = tn::argmax(scores(net, hidden(net, data.held_out_images)), -1);
  return tn::mean(answer == data.held_out_labels).item<float>();
}

}  // namespace digits
