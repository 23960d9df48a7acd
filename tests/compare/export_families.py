#!/usr/bin/env python3
"""Exports small networks of many families by torch.onnx.export with dynamic axes, for `make models`.

    /usr/bin/python3 export_families.py OUTDIR [NAME ...]      (--list: names only; needs python3-torch, python3-torchvision)

The networks have the structure of their families, and random weights. OUTDIR/networks.json states for compare.py the sizes
at which each runs and the upper bounds of its dynamic dimensions, which are bounds of the inputs alone.
"""
import json
import math
import os
import sys
import warnings

import torch
import torchvision
from torch import nn
from torch.nn import functional as F

FAMILIES = {}


def family(**options):
    """Registers a function that returns the module and its example inputs, by name. options: dims, {input: {axis: name}};
    bounds, {name: upper bound}; cases, a list of {name: size}; outputs, names; further entries of networks.json."""
    def register(function):
        FAMILIES[function.__name__] = (function, options)
        return function
    return register


def image(*, batch=2, height=64, width=64, cases=((1, 1.0, 1.0), (2, 0.5, 0.75)), least=1, multiple=1):
    """Options of a network whose input x [B,3,H,W] has bounds; cases: batch, and which part of height and width."""
    def size(part, bound):
        return max(least, int(bound * part) // multiple * multiple)
    return {"dims": {"x": {0: "B", 2: "H", 3: "W"}}, "bounds": {"B": batch, "H": height, "W": width},
            "cases": [{"B": batch, "H": height, "W": width}] + [
                {"B": b, "H": size(h, height), "W": size(w, width)} for b, h, w in cases]}


def pixels(batch=2, height=64, width=64):
    return {"x": torch.randn(batch, 3, height, width)}


def text(**ranges):
    return {"bounds": {"B": 3, "T": 12}, "ranges": ranges,
            "cases": [{"B": 3, "T": 12}, {"B": 1, "T": 1}, {"B": 2, "T": 7}]}


def randomized(module):
    """The module with random statistics in its batch normalizations."""
    for m in module.modules():
        if isinstance(m, nn.BatchNorm2d):
            m.running_mean.uniform_(-0.2, 0.2)
            m.running_var.uniform_(0.5, 1.5)
    return module


def conv(cin, cout, kernel=3, stride=1, groups=1, act=nn.ReLU):
    layers = [nn.Conv2d(cin, cout, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(cout)]
    return nn.Sequential(*layers, *([act()] if act else []))


# ---- images ----

@family(**image(cases=((1, 0.5, 1.0), (2, 0.6, 0.75), (1, 0.0, 0.0)), least=1))
def resnet():
    class Block(nn.Module):
        def __init__(self, cin, cout, stride):
            super().__init__()
            self.one, self.two = conv(cin, cout, 3, stride), conv(cout, cout, act=None)
            self.skip = conv(cin, cout, 1, stride, act=None) if stride > 1 else nn.Identity()

        def forward(self, x):
            return F.relu(self.two(self.one(x)) + self.skip(x))

    return nn.Sequential(conv(3, 8, 7, 2), nn.MaxPool2d(3, 2, 1), Block(8, 8, 1), Block(8, 16, 2), Block(16, 24, 2),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(24, 10)), pixels()


@family(**image(), tolerance=2e-5)
def mobilenet_v3():
    from torchvision.models.mobilenetv3 import InvertedResidualConfig as Config
    settings = [Config(8, 3, 8, 8, True, "RE", 2, 1, 1), Config(8, 5, 24, 16, True, "HS", 2, 1, 1),
                Config(16, 5, 32, 16, True, "HS", 1, 1, 1)]
    return torchvision.models.MobileNetV3(settings, 32, num_classes=10), pixels()


@family(**image(), tolerance=2e-5)
def efficientnet():
    from torchvision.models.efficientnet import MBConvConfig as Config
    settings = [Config(1, 3, 1, 8, 8, 1, 1, 1), Config(4, 3, 2, 8, 16, 2, 1, 1), Config(4, 5, 2, 16, 24, 1, 1, 1)]
    return torchvision.models.EfficientNet(settings, 0.1, num_classes=10), pixels()


@family(**image())
def densenet():
    return torchvision.models.DenseNet(8, (2, 2, 2), 16, num_classes=10), pixels()


@family(**image())
def convnext():
    from torchvision.models.convnext import CNBlockConfig as Config
    return torchvision.models.ConvNeXt([Config(16, 24, 1), Config(24, 32, 2), Config(32, None, 1)],
                                       num_classes=10), pixels()


@family(**image(cases=((1, 0.8, 0.6), (2, 0.5, 0.75))))
def swin():
    return torchvision.models.SwinTransformer([4, 4], 16, [2, 2], [2, 4], [4, 4], num_classes=10), pixels()


@family(**image(cases=((1, 0.5, 1.0), (1, 0.7, 0.55)), least=16))
def unet():
    class Unet(nn.Module):
        def __init__(self):
            super().__init__()
            self.down = nn.ModuleList([conv(3, 8), conv(8, 16), conv(16, 24)])
            self.up = nn.ModuleList([conv(24 + 16, 16), conv(16 + 8, 8)])
            self.last = nn.Conv2d(8, 4, 1)

        def forward(self, x):
            kept = []
            for block in self.down:
                x = block(x)
                kept.append(x)
                x = F.max_pool2d(x, 2)
            x = kept.pop()
            for block in self.up:
                skip = kept.pop()
                x = F.interpolate(x, size=skip.shape[2:], mode="bilinear", align_corners=False)
                x = block(torch.cat([x, skip], 1))
            return self.last(x)

    return Unet(), pixels()


@family(**image(cases=((1, 0.5, 1.0), (1, 0.7, 0.55)), least=16))
def unet_transposed():
    class Unet(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.two, self.low = conv(3, 8), conv(8, 16), conv(16, 16)
            self.up = nn.ConvTranspose2d(16, 8, 2, 2)
            self.last = conv(16, 4)

        def forward(self, x):
            skip = self.one(x)
            y = self.up(self.low(self.two(F.max_pool2d(skip, 2))))
            high, wide = skip.size(2) - y.size(2), skip.size(3) - y.size(3)
            y = F.pad(y, [wide // 2, wide - wide // 2, high // 2, high - high // 2])
            return self.last(torch.cat([skip, y], 1))

    return Unet(), pixels()


@family(**image(cases=((1, 0.5, 1.0), (1, 0.7, 0.55)), least=16))
def deeplab():
    class Pooled(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = conv(16, 8, 1)

        def forward(self, x):
            return F.interpolate(self.conv(F.adaptive_avg_pool2d(x, 1)), size=x.shape[-2:], mode="bilinear",
                                 align_corners=False)

    class Deeplab(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(conv(3, 8, 3, 2), conv(8, 16, 3, 2))
            self.heads = nn.ModuleList([conv(16, 8, 1), nn.Conv2d(16, 8, 3, padding=2, dilation=2), Pooled()])
            self.last = nn.Conv2d(24, 5, 1)

        def forward(self, x):
            y = self.body(x)
            y = self.last(torch.cat([head(y) for head in self.heads], 1))
            return F.interpolate(y, size=x.shape[-2:], mode="bilinear", align_corners=False)

    return Deeplab(), pixels()


@family(**image(cases=((1, 0.5, 1.0), (1, 0.7, 0.55)), least=16))
def super_resolution():
    class Scaled(nn.Module):
        def forward(self, x):
            return F.interpolate(x, scale_factor=1.5, mode="bilinear", align_corners=False)

    return nn.Sequential(conv(3, 8), nn.Conv2d(8, 12, 3, 1, 1), nn.PixelShuffle(2), Scaled()), pixels()


@family(**image(cases=((1, 0.5, 1.0), (1, 0.75, 0.5)), least=32, multiple=32, height=96, width=96), tolerance=2e-5)
def yolo():
    """Three heads with a grid that is made of the feature map's shape, joined and decoded."""
    class Head(nn.Module):
        def __init__(self, cin, stride):
            super().__init__()
            self.conv, self.stride = nn.Conv2d(cin, 2 * 7, 1), stride
            self.register_buffer("anchors", torch.tensor([[8.0, 12.0], [16.0, 10.0]]).view(1, 2, 1, 1, 2) * stride / 8)

        def forward(self, x):
            x = self.conv(x)
            n, _, h, w = x.shape
            x = x.view(n, 2, 7, h, w).permute(0, 1, 3, 4, 2)
            y, z = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
            grid = torch.stack((z, y), 2).view(1, 1, h, w, 2).float()
            x = x.sigmoid()
            place = (x[..., 0:2] * 2 - 0.5 + grid) * self.stride
            size = (x[..., 2:4] * 2) ** 2 * self.anchors
            return torch.cat((place, size, x[..., 4:]), 4).view(n, -1, 7)

    class Yolo(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(conv(3, 8, 3, 2, act=nn.SiLU), conv(8, 16, 3, 2, act=nn.SiLU),
                                      conv(16, 16, 3, 2, act=nn.SiLU))
            self.deep, self.join = conv(16, 24, 3, 2, act=nn.SiLU), conv(40, 16, act=nn.SiLU)
            self.heads = nn.ModuleList([Head(16, 8), Head(24, 16)])

        def forward(self, x):
            x = self.body(x)
            deep = self.deep(x)
            x = self.join(torch.cat([x, F.interpolate(deep, scale_factor=2.0, mode="nearest")], 1))
            return torch.cat([self.heads[0](x), self.heads[1](deep)], 1)

    return Yolo(), pixels(2, 96, 96)


@family(**image(cases=((1, 1.0, 0.5), (1, 0.75, 0.75)), least=16, multiple=8))
def vit():
    """A vision transformer whose positions are resized to the grid of patches."""
    class Vit(nn.Module):
        def __init__(self, width=32, patch=8):
            super().__init__()
            self.patch = nn.Conv2d(3, width, patch, patch)
            self.token = nn.Parameter(torch.randn(1, 1, width))
            self.first = nn.Parameter(torch.randn(1, 1, width))
            self.grid = nn.Parameter(torch.randn(1, width, 8, 8))
            layer = nn.TransformerEncoderLayer(width, 4, 64, batch_first=True, activation="gelu")
            self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
            self.last = nn.Linear(width, 10)

        def forward(self, x):
            x = self.patch(x)
            places = F.interpolate(self.grid, size=x.shape[-2:], mode="bilinear", align_corners=False)
            x = (x + places).flatten(2).transpose(1, 2)
            token = self.token.expand(x.shape[0], -1, -1) + self.first
            return self.last(self.body(torch.cat([token, x], 1))[:, 0])

    return Vit(), pixels()


class Attention(nn.Module):
    """Attention as language models write it: projections, heads by view and transpose, an additive mask."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))

    def split(self, x):
        b, t, c = x.shape
        return x.view(b, t, self.heads, c // self.heads).transpose(1, 2)

    def forward(self, x, y, mask=None, past=None):
        q, k, v = self.split(self.q(x)), self.split(self.k(y)), self.split(self.v(y))
        if past is not None:
            k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(mask[:, :, :scores.shape[-2], :scores.shape[-1]] == 0, -1e4)
        b, _, t, _ = q.shape
        y = (scores.softmax(-1) @ v).transpose(1, 2).contiguous().view(b, t, -1)
        return self.out(y), k, v


class Block(nn.Module):
    def __init__(self, width, heads, cross=False):
        super().__init__()
        self.attention, self.one, self.two = Attention(width, heads), nn.LayerNorm(width), nn.LayerNorm(width)
        self.cross, self.three = (Attention(width, heads), nn.LayerNorm(width)) if cross else (None, None)
        self.inner = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x, mask=None, past=None, memory=None):
        normal = self.one(x)
        y, k, v = self.attention(normal, normal, mask, past)
        x = x + y
        if memory is not None:
            x = x + self.cross(self.three(x), memory)[0]
        return x + self.inner(self.two(x)), k, v


@family(dims={"pixels": {0: "B", 2: "H", 3: "W"}, "ids": {0: "N", 1: "T"}},
        bounds={"B": 2, "H": 48, "W": 48, "N": 3, "T": 10}, ranges={"ids": [0, 50]},
        cases=[{"B": 2, "H": 48, "W": 48, "N": 3, "T": 10}, {"B": 1, "H": 48, "W": 48, "N": 1, "T": 1},
               {"B": 2, "H": 48, "W": 48, "N": 2, "T": 6}])
def clip():
    """A tower for images, with a class embedding that is expanded, one for texts, and the product of both."""
    class Clip(nn.Module):
        def __init__(self, width=32):
            super().__init__()
            self.patch = nn.Conv2d(3, width, 16, 16, bias=False)
            self.token = nn.Parameter(torch.randn(width))
            self.places, self.words, self.positions = nn.Embedding(10, width), nn.Embedding(50, width), nn.Embedding(10, width)
            self.register_buffer("ids", torch.arange(10).expand((1, -1)))
            self.image, self.text = Block(width, 4), Block(width, 4)
            self.first, self.second = nn.Linear(width, 16, bias=False), nn.Linear(width, 16, bias=False)
            self.scale = nn.Parameter(torch.tensor(2.0))

        def forward(self, pixels, ids):
            b = pixels.shape[0]
            patches = self.patch(pixels).flatten(2).transpose(1, 2)
            x = torch.cat([self.token.expand(b, 1, -1), patches], 1) + self.places(self.ids)
            x = self.first(self.image(x)[0][:, 0, :])
            n, t = ids.shape
            mask = torch.ones(t, t).tril()[None, None]
            y = self.text(self.words(ids) + self.positions(self.ids[:, :t]), mask)[0]
            y = self.second(y[torch.arange(n), ids.to(torch.int).argmax(-1)])
            x, y = x / x.norm(dim=-1, keepdim=True), y / y.norm(dim=-1, keepdim=True)
            return self.scale.exp() * x @ y.t()

    return Clip(), {"pixels": torch.randn(2, 3, 48, 48), "ids": torch.randint(0, 50, (3, 10))}


# ---- detectors ----

@family(**image(batch=1, height=96, width=96, cases=((1, 0.5, 1.0), (1, 0.75, 0.6)), least=32),
        outputs=["boxes", "labels", "scores"], tolerance=5e-5)
def faster_rcnn():
    from torchvision.models.detection.faster_rcnn import FasterRCNN, FastRCNNPredictor, TwoMLPHead
    from torchvision.models.detection.anchor_utils import AnchorGenerator
    body = nn.Sequential(conv(3, 8, 3, 2), conv(8, 16, 3, 2), conv(16, 16, 3, 2))
    body.out_channels = 16
    anchors = AnchorGenerator(((16, 32),), ((0.5, 1.0, 2.0),))
    pool = torchvision.ops.MultiScaleRoIAlign(["0"], 3, 2)
    net = FasterRCNN(randomized(body), min_size=64, max_size=96, rpn_anchor_generator=anchors, box_roi_pool=pool,
                     rpn_pre_nms_top_n_test=50, rpn_post_nms_top_n_test=20, box_detections_per_img=10,
                     box_score_thresh=0.05, box_head=TwoMLPHead(16 * 9, 32), box_predictor=FastRCNNPredictor(32, 3))

    class One(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = net

        def forward(self, x):
            found = self.net([x[0]])[0]
            return found["boxes"], found["labels"], found["scores"]

    return One(), {"x": torch.rand(1, 3, 96, 96)}


@family(**image(batch=1, height=96, width=96, cases=((1, 0.5, 1.0), (1, 0.75, 0.6)), least=32),
        outputs=["boxes", "labels", "scores"])
def ssdlite():
    from torchvision.models.detection.anchor_utils import DefaultBoxGenerator
    from torchvision.models.detection.ssd import SSD

    class Body(nn.Module):
        def __init__(self):
            super().__init__()
            self.one = nn.Sequential(conv(3, 8, 3, 2), conv(8, 8, 3, 2, 8, nn.ReLU6), conv(8, 16, 3, 2))
            self.two = conv(16, 24, 3, 2)
            self.out_channels = [16, 24]

        def forward(self, x):
            from collections import OrderedDict
            x = self.one(x)
            return OrderedDict([("0", x), ("1", self.two(x))])

    net = SSD(randomized(Body()), DefaultBoxGenerator([[2], [2]], min_ratio=20, max_ratio=95), (64, 64), 3,
              score_thresh=0.01, topk_candidates=30, detections_per_img=10)

    class One(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = net

        def forward(self, x):
            found = self.net([x[0]])[0]
            return found["boxes"], found["labels"], found["scores"]

    return One(), {"x": torch.rand(1, 3, 96, 96)}


# ---- texts ----

@family(dims={"ids": {0: "B", 1: "T"}, "attention": {0: "B", 1: "T"}}, outputs=["states", "pooled"],
        **text(ids=[0, 60]))
def bert():
    class Bert(nn.Module):
        def __init__(self, width=32):
            super().__init__()
            self.words, self.places, self.kinds = nn.Embedding(60, width), nn.Embedding(16, width), nn.Embedding(2, width)
            self.register_buffer("ids", torch.arange(16).expand((1, -1)))
            self.blocks = nn.ModuleList([Block(width, 4), Block(width, 4)])
            self.pool, self.last = nn.Linear(width, width), nn.Linear(width, 3)

        def forward(self, ids, attention):
            b, t = ids.shape
            kinds = torch.zeros((b, t), dtype=torch.long)
            x = self.words(ids) + self.places(self.ids[:, :t]) + self.kinds(kinds)
            mask = attention[:, None, None, :].expand(b, 1, t, t)
            for block in self.blocks:
                x = block(x, mask)[0]
            return x, self.last(torch.tanh(self.pool(x[:, 0])))

    return Bert(), {"ids": torch.randint(0, 60, (3, 12)), "attention": torch.ones(3, 12, dtype=torch.long)}


PAST = {0: "B", 2: "P"}


@family(dims={"ids": {0: "B", 1: "T"}, "k0": PAST, "v0": PAST, "k1": PAST, "v1": PAST},
        bounds={"B": 3, "T": 6, "P": 10}, ranges={"ids": [0, 60]}, outputs=["logits", "k0_", "v0_", "k1_", "v1_"],
        cases=[{"B": 3, "T": 6, "P": 10}, {"B": 1, "T": 1, "P": 1}, {"B": 2, "T": 1, "P": 7}, {"B": 1, "T": 5, "P": 0}])
def gpt_with_cache():
    class Gpt(nn.Module):
        def __init__(self, width=32):
            super().__init__()
            self.words, self.places = nn.Embedding(60, width), nn.Embedding(32, width)
            self.blocks = nn.ModuleList([Block(width, 4), Block(width, 4)])
            self.register_buffer("mask", torch.ones(32, 32).tril().view(1, 1, 32, 32))
            self.last = nn.Linear(width, 60, bias=False)

        def forward(self, ids, k0, v0, k1, v1):
            before, t = k0.shape[-2], ids.shape[-1]
            places = torch.arange(before, t + before, dtype=torch.long).unsqueeze(0).view(-1, t)
            x = self.words(ids) + self.places(places)
            mask, kept = self.mask[:, :, before:before + t, :before + t], []
            for block, past in zip(self.blocks, ((k0, v0), (k1, v1))):
                x, k, v = block(x, mask, past)
                kept += [k, v]
            return (self.last(x), *kept)

    past = {name: torch.randn(3, 4, 10, 8) for name in ("k0", "v0", "k1", "v1")}
    return Gpt(), {"ids": torch.randint(0, 60, (3, 6)), **past}


@family(dims={"ids": {0: "B", 1: "T"}, "k": PAST, "v": PAST}, bounds={"B": 3, "T": 6, "P": 10},
        ranges={"ids": [0, 60]}, outputs=["logits", "k_", "v_"],
        cases=[{"B": 3, "T": 6, "P": 10}, {"B": 1, "T": 1, "P": 1}, {"B": 2, "T": 1, "P": 7}])
def llama():
    """RMS normalization, rotary positions, grouped key and value heads that are expanded, a gated inner layer."""
    class Llama(nn.Module):
        def __init__(self, width=32, heads=4, groups=2):
            super().__init__()
            self.heads, self.groups, self.size = heads, groups, width // heads
            self.words, self.last = nn.Embedding(60, width), nn.Linear(width, 60, bias=False)
            self.q, self.o = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
            self.k = nn.Linear(width, groups * self.size, bias=False)
            self.v = nn.Linear(width, groups * self.size, bias=False)
            self.gate, self.up = nn.Linear(width, 48, bias=False), nn.Linear(width, 48, bias=False)
            self.down = nn.Linear(48, width, bias=False)
            self.weight = nn.Parameter(torch.rand(width) + 0.5)
            self.register_buffer("turns", 1.0 / 100 ** (torch.arange(0, self.size, 2).float() / self.size))

        def norm(self, x):
            return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)

        @staticmethod
        def rotate(x, cos, sin):
            half = x.shape[-1] // 2
            return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin

        def repeat(self, x):
            b, g, t, d = x.shape
            return x[:, :, None].expand(b, g, self.heads // g, t, d).reshape(b, self.heads, t, d)

        def forward(self, ids, k, v):
            b, t = ids.shape
            before = k.shape[2]
            places = torch.arange(before, before + t)
            angle = places[:, None].float() * self.turns[None]
            angle = torch.cat((angle, angle), -1)
            cos, sin = angle.cos()[None, None], angle.sin()[None, None]
            x = self.words(ids)
            y = self.norm(x)
            q = self.rotate(self.q(y).view(b, t, self.heads, self.size).transpose(1, 2), cos, sin)
            own = self.rotate(self.k(y).view(b, t, self.groups, self.size).transpose(1, 2), cos, sin)
            k = torch.cat([k, own], 2)
            v = torch.cat([v, self.v(y).view(b, t, self.groups, self.size).transpose(1, 2)], 2)
            scores = q @ self.repeat(k).transpose(2, 3) / math.sqrt(self.size)
            mask = torch.full((t, before + t), -1e4).triu(before + 1)
            y = ((scores + mask).softmax(-1) @ self.repeat(v)).transpose(1, 2).reshape(b, t, -1)
            x = x + self.o(y)
            y = self.norm(x)
            return self.last(x + self.down(F.silu(self.gate(y)) * self.up(y))), k, v

    return Llama(), {"ids": torch.randint(0, 60, (3, 6)), "k": torch.randn(3, 2, 10, 8), "v": torch.randn(3, 2, 10, 8)}


@family(dims={"ids": {0: "B", 1: "S"}, "target": {0: "B", 1: "T"}}, bounds={"B": 2, "S": 9, "T": 7},
        ranges={"ids": [0, 40], "target": [0, 40]},
        cases=[{"B": 2, "S": 9, "T": 7}, {"B": 1, "S": 1, "T": 1}, {"B": 2, "S": 4, "T": 6}])
def translation():
    """torch.nn.Transformer, encoder and decoder, with a causal mask that is made of the target's shape."""
    class Translation(nn.Module):
        def __init__(self, width=32):
            super().__init__()
            self.words, self.others = nn.Embedding(40, width), nn.Embedding(40, width)
            self.register_buffer("places", torch.randn(1, 16, width))
            self.body = nn.Transformer(width, 4, 1, 1, 64, batch_first=True)
            self.last = nn.Linear(width, 40)

        def forward(self, ids, target):
            x = self.words(ids) + self.places[:, :ids.shape[1]]
            y = self.others(target) + self.places[:, :target.shape[1]]
            mask = torch.full((target.shape[1], target.shape[1]), float("-inf")).triu(1)
            memory = self.body.encoder(x)
            return self.last(self.body.decoder(y, memory, tgt_mask=mask))

    return Translation(), {"ids": torch.randint(0, 40, (2, 9)), "target": torch.randint(0, 40, (2, 7))}


@family(dims={"ids": {0: "B", 1: "T"}}, **text(ids=[0, 60]))
def text_cnn():
    class TextCnn(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(60, 16)
            self.convs = nn.ModuleList([nn.Conv1d(16, 8, k, padding=k // 2) for k in (1, 3, 5)])
            self.last = nn.Linear(24, 4)

        def forward(self, ids):
            x = self.words(ids).transpose(1, 2)
            return self.last(torch.cat([F.relu(c(x)).amax(-1) for c in self.convs], 1))

    return TextCnn(), {"ids": torch.randint(0, 60, (3, 12))}


# ---- sequences and sounds ----

def recurrent(kind):
    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = kind(8, 12, 2, batch_first=True, bidirectional=True)
            self.last = nn.Linear(24, 5)

        def forward(self, x):
            y, _ = self.body(x)
            return self.last(y), self.last(y[:, -1])

    return Recurrent(), {"x": torch.randn(3, 12, 8)}


SEQUENCE = {"dims": {"x": {0: "B", 1: "T"}}, "bounds": {"B": 3, "T": 12},
            "cases": [{"B": 3, "T": 12}, {"B": 1, "T": 1}, {"B": 2, "T": 7}]}


@family(**SEQUENCE, outputs=["steps", "last"])
def lstm():
    return recurrent(nn.LSTM)


@family(**SEQUENCE, outputs=["steps", "last"])
def gru():
    return recurrent(nn.GRU)


@family(dims={"x": {0: "B", 2: "T"}}, bounds={"B": 2, "T": 40},
        cases=[{"B": 2, "T": 40}, {"B": 1, "T": 1}, {"B": 2, "T": 23}])
def tcn():
    class Level(nn.Module):
        def __init__(self, cin, cout, dilation):
            super().__init__()
            self.conv, self.chop = nn.Conv1d(cin, cout, 3, padding=2 * dilation, dilation=dilation), 2 * dilation
            self.skip = nn.Conv1d(cin, cout, 1)

        def forward(self, x):
            return F.relu(F.relu(self.conv(x)[:, :, :-self.chop].contiguous()) + self.skip(x))

    return nn.Sequential(Level(4, 8, 1), Level(8, 8, 2), Level(8, 8, 4)), {"x": torch.randn(2, 4, 40)}


@family(dims={"mel": {0: "B", 2: "T"}, "ids": {0: "B", 1: "N"}}, bounds={"B": 2, "T": 40, "N": 8},
        ranges={"ids": [0, 30]}, cases=[{"B": 2, "T": 40, "N": 8}, {"B": 1, "T": 1, "N": 1}, {"B": 2, "T": 25, "N": 3}])
def whisper():
    class Whisper(nn.Module):
        def __init__(self, width=32):
            super().__init__()
            self.one, self.two = nn.Conv1d(16, width, 3, 1, 1), nn.Conv1d(width, width, 3, 2, 1)
            self.register_buffer("places", torch.randn(20, width))
            self.register_buffer("mask", torch.ones(16, 16).tril().view(1, 1, 16, 16))
            self.encoder, self.decoder = Block(width, 4), Block(width, 4, cross=True)
            self.words, self.positions = nn.Embedding(30, width), nn.Parameter(torch.randn(16, width))

        def forward(self, mel, ids):
            x = F.gelu(self.two(F.gelu(self.one(mel)))).permute(0, 2, 1)
            x = self.encoder(x + self.places[:x.shape[1]])[0]
            y = self.words(ids) + self.positions[:ids.shape[-1]]
            y = self.decoder(y, self.mask, memory=x)[0]
            return y @ self.words.weight.t()

    return Whisper(), {"mel": torch.randn(2, 16, 40), "ids": torch.randint(0, 30, (2, 8))}


@family(dims={"wave": {0: "B", 1: "T"}}, bounds={"B": 2, "T": 400},
        cases=[{"B": 2, "T": 400}, {"B": 1, "T": 160}, {"B": 2, "T": 277}])
def conformer():
    """Frames of a wave, attention with relative positions by pad and reshape, a depthwise convolution, GLU."""
    class Conformer(nn.Module):
        def __init__(self, width=32, heads=4):
            super().__init__()
            self.frames = nn.Conv1d(1, width, 40, 20)
            self.heads, self.qkv, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.place, self.norm = nn.Linear(width, width, bias=False), nn.LayerNorm(width)
            self.wide, self.deep = nn.Conv1d(width, 2 * width, 1), nn.Conv1d(width, width, 7, padding=3, groups=width)
            self.last = nn.Linear(width, 20)

        def shifted(self, x):
            b, h, t, n = x.shape
            x = F.pad(x, (1, 0)).view(b, h, n + 1, t)
            return x[:, :, 1:].reshape(b, h, t, n)[:, :, :, :n // 2 + 1]

        def forward(self, wave):
            x = self.frames(wave[:, None]).transpose(1, 2)
            b, t, c = x.shape
            q, k, v = self.qkv(self.norm(x)).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
            steps = torch.arange(t - 1, -t, -1).float()[:, None] / torch.arange(1, c + 1).float()[None]
            places = self.place(torch.sin(steps)).view(-1, self.heads, c // self.heads).transpose(0, 1)
            scores = q @ k.transpose(-2, -1) + self.shifted(q @ places.transpose(-2, -1))
            y = (scores / math.sqrt(c)).softmax(-1) @ v
            x = x + self.out(y.transpose(1, 2).reshape(b, t, c))
            x = x + F.silu(self.deep(F.glu(self.wide(x.transpose(1, 2)), 1))).transpose(1, 2)
            return self.last(x).log_softmax(-1)

    return Conformer(), {"wave": torch.randn(2, 400)}


@family(dims={"points": {0: "B", 1: "N"}}, bounds={"B": 2, "N": 50},
        cases=[{"B": 2, "N": 50}, {"B": 1, "N": 1}, {"B": 2, "N": 17}])
def pointnet():
    class Pointnet(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.two, self.last = nn.Conv1d(3, 16, 1), nn.Conv1d(16, 24, 1), nn.Conv1d(40, 5, 1)

        def forward(self, points):
            x = F.relu(self.one(points.transpose(1, 2)))
            whole = F.relu(self.two(x)).max(2, keepdim=True)[0].repeat(1, 1, x.shape[2])
            return self.last(torch.cat([x, whole], 1)).transpose(1, 2).log_softmax(-1)

    return Pointnet(), {"points": torch.randn(2, 50, 3)}


def export(name, folder):
    """Writes one network and returns its entry of networks.json."""
    function, options = FAMILIES[name]
    torch.manual_seed(sum(map(ord, name)))
    module, inputs = function()
    module = randomized(module).eval()
    outputs = options.get("outputs", ["y"])
    path = os.path.join(folder, name + ".onnx")
    with warnings.catch_warnings(): # with gradients: without them torch takes fused operators that it does not export
        warnings.simplefilter("ignore")
        torch.onnx.export(module, tuple(inputs.values()), path, input_names=list(inputs), output_names=outputs,
                          dynamic_axes=options["dims"], opset_version=16)
    entry = {"file": name + ".onnx", "cases": options["cases"], "bounds": options["bounds"]}
    entry.update({key: options[key] for key in ("ranges", "tolerance") if key in options})
    return entry


def main():
    names = [a for a in sys.argv[2:] if not a.startswith("-")] or list(FAMILIES)
    if "--list" in sys.argv:
        print("\n".join(FAMILIES))
        return
    folder, entries = sys.argv[1], {}
    os.makedirs(folder, exist_ok=True)
    for name in names:
        entries[name] = export(name, folder)
    with open(os.path.join(folder, "networks.json"), "w") as f:
        json.dump(entries, f, indent=1)


if __name__ == "__main__":
    main()
