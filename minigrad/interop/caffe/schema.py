"""The part of Caffe's schema that is read here, and what protobuf makes of it.

Numbers and names of fields are those of caffe.proto; what it holds beyond these is refused by name.
A row is: message, then its fields as `name=number type`, with `*` behind a type that repeats.
"""

from __future__ import annotations

import functools
from typing import Any

from minigrad.interop.extra import import_extra

ENUMS = {
    "Phase": "TRAIN TEST",
    "Pool": "MAX AVE STOCHASTIC",
    "Round": "CEIL FLOOR",
    "Eltwise": "PROD SUM MAX",
    "Region": "ACROSS_CHANNELS WITHIN_CHANNEL",
    "Normalization": "FULL VALID BATCH_SIZE NONE",
    "Variance": "FAN_IN FAN_OUT AVERAGE",
    "Engine": "DEFAULT CAFFE CUDNN",
    "DB": "LEVELDB LMDB",
    "Check": "STRICT PERMISSIVE",
}
MESSAGES = """
BlobShape  dim=1 int64*
BlobProto  num=1 int32  channels=2 int32  height=3 int32  width=4 int32  data=5 float*
BlobProto  diff=6 float*  shape=7 BlobShape  double_data=8 double*  double_diff=9 double*
Filler  type=1 string:constant  value=2 float  min=3 float  max=4 float:1  mean=5 float
Filler  std=6 float:1  sparse=7 int32:-1  variance_norm=8 Variance
NetState  phase=1 Phase:TEST  level=2 int32  stage=3 string*
NetStateRule  phase=1 Phase  min_level=2 int32  max_level=3 int32  stage=4 string*
NetStateRule  not_stage=5 string*
ParamSpec  name=1 string  share_mode=2 Check  lr_mult=3 float:1  decay_mult=4 float:1
Transformation  scale=1 float:1  mirror=2 bool  crop_size=3 uint32  mean_file=4 string
Transformation  mean_value=5 float*  force_color=6 bool  force_gray=7 bool
Loss  ignore_label=1 int32  normalize=2 bool  normalization=3 Normalization:VALID
Accuracy  top_k=1 uint32:1  axis=2 int32:1  ignore_label=3 int32
BatchNorm  use_global_stats=1 bool  moving_average_fraction=2 float:.999  eps=3 float:1e-5
Concat  concat_dim=1 uint32:1  axis=2 int32:1
Convolution  num_output=1 uint32  bias_term=2 bool:true  pad=3 uint32*  kernel_size=4 uint32*
Convolution  group=5 uint32:1  stride=6 uint32*  weight_filler=7 Filler  bias_filler=8 Filler
Convolution  pad_h=9 uint32  pad_w=10 uint32  kernel_h=11 uint32  kernel_w=12 uint32
Convolution  stride_h=13 uint32  stride_w=14 uint32  engine=15 Engine  axis=16 int32:1
Convolution  force_nd_im2col=17 bool  dilation=18 uint32*
Data  source=1 string  scale=2 float:1  mean_file=3 string  batch_size=4 uint32
Data  crop_size=5 uint32  mirror=6 bool  rand_skip=7 uint32  backend=8 DB
Data  force_encoded_color=9 bool  prefetch=10 uint32:4
Dropout  dropout_ratio=1 float:0.5
Eltwise_  operation=1 Eltwise:SUM  coeff=2 float*  stable_prod_grad=3 bool:true
Flatten  axis=1 int32:1  end_axis=2 int32:-1
InnerProduct  num_output=1 uint32  bias_term=2 bool:true  weight_filler=3 Filler
InnerProduct  bias_filler=4 Filler  axis=5 int32:1  transpose=6 bool
Input  shape=1 BlobShape*
LRN  local_size=1 uint32:5  alpha=2 float:1  beta=3 float:0.75  norm_region=4 Region
LRN  k=5 float:1  engine=6 Engine
Pooling  pool=1 Pool  kernel_size=2 uint32  stride=3 uint32:1  pad=4 uint32  kernel_h=5 uint32
Pooling  kernel_w=6 uint32  stride_h=7 uint32  stride_w=8 uint32  pad_h=9 uint32  pad_w=10 uint32
Pooling  engine=11 Engine  global_pooling=12 bool  round_mode=13 Round
ReLU  negative_slope=1 float  engine=2 Engine
Scale  axis=1 int32:1  num_axes=2 int32:1  filler=3 Filler  bias_term=4 bool
Scale  bias_filler=5 Filler
Softmax  engine=1 Engine  axis=2 int32:1
Plain  engine=1 Engine
Layer  name=1 string  type=2 string  bottom=3 string*  top=4 string*  loss_weight=5 float*
Layer  param=6 ParamSpec*  blobs=7 BlobProto*  include=8 NetStateRule*  exclude=9 NetStateRule*
Layer  phase=10 Phase  propagate_down=11 bool*  transform_param=100 Transformation
Layer  loss_param=101 Loss  accuracy_param=102 Accuracy  concat_param=104 Concat
Layer  convolution_param=106 Convolution  data_param=107 Data  dropout_param=108 Dropout
Layer  eltwise_param=110 Eltwise_  inner_product_param=117 InnerProduct  lrn_param=118 LRN
Layer  pooling_param=121 Pooling  relu_param=123 ReLU  sigmoid_param=124 Plain
Layer  softmax_param=125 Softmax  tanh_param=127 Plain  flatten_param=135 Flatten
Layer  batch_norm_param=139 BatchNorm  scale_param=142 Scale  input_param=143 Input
OldLayer  name=4 string  blobs=6 BlobProto*
Net  name=1 string  layers=2 OldLayer*  input=3 string*  input_dim=4 int32*
Net  force_backward=5 bool  state=6 NetState  debug_info=7 bool  input_shape=8 BlobShape*
Net  layer=100 Layer*
"""


def _declare(field: Any, number: str, kind: str) -> None:
    """Declare a field: its number, its type and its default."""
    field.number = int(number)
    kind, _, default = kind.partition(":")
    repeated = kind.endswith("*")
    kind = kind.rstrip("*")
    field.label = field.LABEL_REPEATED if repeated else field.LABEL_OPTIONAL
    scalar = getattr(field, f"TYPE_{kind.upper()}", None)
    if scalar is None:
        field.type_name = f".caffe.{kind}.Value" if kind in ENUMS else f".caffe.{kind}"
        scalar = field.TYPE_ENUM if kind in ENUMS else field.TYPE_MESSAGE
    elif repeated and kind != "string":
        field.options.packed = True
    field.type = scalar
    if default:
        field.default_value = default


@functools.cache
def messages() -> dict[str, Any]:
    """Return the classes of all messages, by name."""
    pb = import_extra("google.protobuf.descriptor_pb2", extra="caffe")
    pool = import_extra("google.protobuf.descriptor_pool", extra="caffe").DescriptorPool()
    factory = import_extra("google.protobuf.message_factory", extra="caffe")
    file = pb.FileDescriptorProto(name="caffe_subset.proto", package="caffe", syntax="proto2")
    for name, values in ENUMS.items():  # each in a scope of its own, as two have a MAX
        enum = file.message_type.add(name=name).enum_type.add(name="Value")
        for place, value in enumerate(values.split()):
            enum.value.add(name=value, number=place)
    declared: dict[str, Any] = {}
    for line in MESSAGES.split("\n"):
        name, *fields = line.split() or [""]
        if name and name not in declared:
            declared[name] = file.message_type.add(name=name)
        for entry, kind in zip(fields[::2], fields[1::2], strict=True):
            title, _, number = entry.partition("=")
            _declare(declared[name].field.add(name=title), number, kind)
    pool.Add(file)
    found = {n: pool.FindMessageTypeByName(f"caffe.{n}") for n in declared}
    return {n: factory.GetMessageClass(descriptor) for n, descriptor in found.items()}
