"""Small networks of every family that mohs must read, run and differentiate.

The classes are those of torchvision and timm, made narrow and shallow, so that an exported file
has the style of a user's file. Where a class fixes its widths in its constructor, a subclass here
builds narrower layers and leaves the forward pass alone. Weights are random but sane: see
`randomise`. Nothing here exports or writes; tools/make_network_fixtures.py does.
"""

import math
from functools import partial

import timm
import torch
import torch.nn.functional as F
from timm.layers import LayerNorm, QuickGELU
from timm.models import vision_transformer
from timm.models.deit import VisionTransformerDistilled
from timm.models.mlp_mixer import MlpMixer
from timm.models.swin_transformer import SwinTransformer as TimmSwin
from torch import nn
from torchvision.models import (
    convnext,
    densenet,
    efficientnet,
    mobilenetv2,
    mobilenetv3,
    regnet,
    resnet,
    shufflenetv2,
    squeezenet,
    swin_transformer,
    vgg,
)
from torchvision.models import vision_transformer as torchvision_vit
from torchvision.ops.misc import Conv2dNormActivation

N_CLASSES = 10


class NarrowResNet(resnet.ResNet):
    """torchvision's ResNet with other widths; the original fixes 64 to 512."""

    def __init__(self, block, widths, depths):
        nn.Module.__init__(self)
        self._norm_layer = nn.BatchNorm2d
        self.inplanes, self.dilation, self.groups, self.base_width = widths[0], 1, 1, 64
        self.conv1 = nn.Conv2d(3, self.inplanes, kernel_size=7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(self.inplanes)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.layer1 = self._make_layer(block, widths[0], depths[0])
        self.layer2 = self._make_layer(block, widths[1], depths[1], stride=2)
        self.layer3 = self._make_layer(block, widths[2], depths[2], stride=2)
        self.layer4 = self._make_layer(block, widths[3], depths[3], stride=2)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(widths[3] * block.expansion, N_CLASSES)


class NarrowSqueezeNet(squeezenet.SqueezeNet):
    """torchvision's SqueezeNet 1.0 with fewer and narrower Fire modules."""

    def __init__(self):
        nn.Module.__init__(self)
        self.features = nn.Sequential(
            nn.Conv2d(3, 12, kernel_size=7, stride=2),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(kernel_size=3, stride=2, ceil_mode=True),
            squeezenet.Fire(12, 6, 8, 8),
            squeezenet.Fire(16, 6, 12, 12),
            nn.MaxPool2d(kernel_size=3, stride=2, ceil_mode=True),
            squeezenet.Fire(24, 8, 12, 12),
        )
        self.classifier = nn.Sequential(
            nn.Dropout(p=0.5),
            nn.Conv2d(24, N_CLASSES, kernel_size=1),
            nn.ReLU(inplace=True),
            nn.AdaptiveAvgPool2d((1, 1)),
        )


def resnet_basic():
    return NarrowResNet(resnet.BasicBlock, (8, 12, 16, 20), (1, 1, 1, 1))


def resnet_bottleneck():
    return NarrowResNet(resnet.Bottleneck, (4, 6, 8, 10), (2, 1, 1, 1))


def vgg_like(batch_norm):
    model = vgg.VGG(
        vgg.make_layers([8, "M", 12, "M", 16, 16, "M"], batch_norm=batch_norm),
        num_classes=N_CLASSES,
        init_weights=False,
    )
    # The original has 7 x 7 places and 4,096 units: 500 MB of weights.
    model.avgpool = nn.AdaptiveAvgPool2d((3, 3))
    model.classifier[0] = nn.Linear(16 * 9, 24)
    model.classifier[3] = nn.Linear(24, 20)
    model.classifier[6] = nn.Linear(20, N_CLASSES)
    return model


def densenet_like():
    return densenet.DenseNet(
        growth_rate=6,
        block_config=(2, 2, 2),
        num_init_features=8,
        bn_size=2,
        num_classes=N_CLASSES,
    )


def mobilenet_v2_like():
    settings = [[1, 8, 1, 1], [4, 12, 2, 2], [4, 16, 1, 2]]
    model = mobilenetv2.MobileNetV2(N_CLASSES, 0.5, settings, round_nearest=4)
    wide = model.features[-1][0].in_channels
    model.features[-1] = Conv2dNormActivation(
        wide, 40, kernel_size=1, norm_layer=nn.BatchNorm2d, activation_layer=nn.ReLU6
    )
    model.classifier[1] = nn.Linear(40, N_CLASSES)
    return model


def mobilenet_v3_like():
    block = partial(mobilenetv3.InvertedResidualConfig, width_mult=1.0)
    settings = [
        block(8, 3, 16, 8, True, "RE", 2, 1),
        block(8, 3, 24, 12, False, "RE", 1, 1),
        block(12, 5, 24, 12, True, "HS", 1, 1),
        block(12, 5, 32, 12, True, "HS", 2, 1),
    ]
    return mobilenetv3.MobileNetV3(settings, last_channel=24, num_classes=N_CLASSES)


def efficientnet_like():
    settings = [
        efficientnet.MBConvConfig(1, 3, 1, 8, 8, 1),
        efficientnet.MBConvConfig(4, 3, 2, 8, 12, 2),
        efficientnet.MBConvConfig(4, 5, 1, 12, 16, 1),
    ]
    return efficientnet.EfficientNet(
        settings, dropout=0.2, num_classes=N_CLASSES, last_channel=40
    )


def efficientnet_v2_like():
    settings = [
        efficientnet.FusedMBConvConfig(1, 3, 1, 8, 8, 1),
        efficientnet.FusedMBConvConfig(3, 3, 2, 8, 16, 1),
        efficientnet.MBConvConfig(3, 3, 2, 16, 16, 1),
    ]
    return efficientnet.EfficientNet(
        settings,
        dropout=0.2,
        num_classes=N_CLASSES,
        norm_layer=partial(nn.BatchNorm2d, eps=1e-03),
        last_channel=40,
    )


def convnext_like():
    settings = [
        convnext.CNBlockConfig(8, 16, 1),
        convnext.CNBlockConfig(16, 20, 1),
        convnext.CNBlockConfig(20, None, 1),
    ]
    return convnext.ConvNeXt(settings, num_classes=N_CLASSES)


def convnext_timm():
    return timm.models.convnext.ConvNeXt(
        num_classes=N_CLASSES,
        depths=(1, 1, 1, 1),
        dims=(8, 12, 16, 20),
        patch_size=2,
        ls_init_value=0.5,
    )


def regnet_like():
    parameters = regnet.BlockParams(
        depths=[1, 2, 1],
        widths=[12, 16, 24],
        group_widths=[4, 8, 8],
        bottleneck_multipliers=[1.0, 1.0, 1.0],
        strides=[1, 2, 2],
        se_ratio=0.25,
    )
    return regnet.RegNet(parameters, num_classes=N_CLASSES, stem_width=8)


def shufflenet_like():
    return shufflenetv2.ShuffleNetV2([2, 2, 1], [8, 12, 16, 24, 32], num_classes=N_CLASSES)


def vit_torchvision(n_layers=2):
    return torchvision_vit.VisionTransformer(
        image_size=24,
        patch_size=6,
        num_layers=n_layers,
        num_heads=2,
        hidden_dim=16,
        mlp_dim=32,
        num_classes=N_CLASSES,
    )


TIMM_VIT = {
    "img_size": 24,
    "patch_size": 6,
    "num_classes": N_CLASSES,
    "embed_dim": 16,
    "depth": 2,
    "num_heads": 2,
    "mlp_ratio": 2.0,
}


def vit_timm():
    return vision_transformer.VisionTransformer(**TIMM_VIT, init_values=0.5)


def deit_distilled():
    return VisionTransformerDistilled(**TIMM_VIT)


def clip_image(act_layer):
    """timm's CLIP image encoder: a norm before the blocks, and a projection for a head."""
    return vision_transformer.VisionTransformer(
        **TIMM_VIT,
        pre_norm=True,
        norm_layer=partial(LayerNorm, eps=1e-5),
        act_layer=act_layer,
    )


def swin_torchvision():
    """One stage: two of them are 1,400 nodes when traced."""
    return swin_transformer.SwinTransformer(
        patch_size=[2, 2],
        embed_dim=12,
        depths=[2],
        num_heads=[2],
        window_size=[4, 4],
        mlp_ratio=2.0,
        num_classes=N_CLASSES,
    )


def swin_timm(depths=(2, 1)):
    return TimmSwin(
        img_size=24,
        patch_size=2,
        num_classes=N_CLASSES,
        embed_dim=12,
        depths=depths,
        num_heads=(2, 3),
        window_size=4,
        mlp_ratio=2.0,
    )


def mixer():
    return MlpMixer(
        num_classes=N_CLASSES,
        img_size=24,
        patch_size=6,
        num_blocks=2,
        embed_dim=20,
        mlp_ratio=(0.5, 2.0),
    )


class OddLayers(nn.Module):
    """Layers that the families miss and that models of timm use here and there."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.group_norm = nn.GroupNorm(2, 8)
        self.pool = nn.AvgPool2d(3, 2, 1, count_include_pad=False)
        self.reflect = nn.Conv2d(8, 8, 3, padding=1, padding_mode="reflect")
        self.instance_norm = nn.InstanceNorm2d(8, affine=True)
        self.replicate = nn.ReplicationPad2d((1, 0, 2, 1))
        self.dilated = nn.Conv2d(8, 8, 3, dilation=2, groups=2)
        self.up = nn.ConvTranspose2d(8, 8, 3, stride=2, padding=1, output_padding=1, groups=2)
        self.padded_pool = nn.AvgPool2d(3, 2, 1, ceil_mode=True)
        self.shuffle = nn.PixelShuffle(2)
        self.mix = nn.Conv2d(2 + 8 + 8, 12, 1)
        self.prelu = nn.PReLU(12)
        # The older exporter wants sizes known here, and to divide without rest.
        self.adaptive = nn.AdaptiveAvgPool2d((2, 3))
        self.head = nn.Linear(12 + 8 * 6, N_CLASSES)

    def forward(self, x):
        x = F.leaky_relu(self.group_norm(self.stem(x)), 0.1)
        x = self.pool(x)
        coarse = torch.flatten(self.adaptive(x), 1)
        x = F.elu(self.instance_norm(self.reflect(x)))
        x = F.softplus(self.dilated(self.replicate(x)))
        x = F.mish(self.up(x))
        x = self.padded_pool(x)
        x = F.pad(x, (0, 2, 0, 0), value=0.25)
        parts = [
            F.interpolate(self.shuffle(x), scale_factor=0.5, mode="bilinear", align_corners=False),
            F.interpolate(x[:, :, ::2, ::2], scale_factor=2.0, mode="nearest"),
            F.interpolate(x[:, :, 3:9, 3:9], size=(12, 12), mode="bilinear", align_corners=True),
        ]
        x = self.mix(torch.cat(parts, dim=1))
        x = F.hardtanh(x, -2.0, 2.5) + torch.where(x > 0.1, F.selu(x), torch.tanh(x))
        x = torch.cat([self.prelu(x).mean(dim=(2, 3)), coarse], dim=1)
        return F.log_softmax(self.head(x), dim=1)


class OddTokens(nn.Module):
    """Shapes, reductions and products of tokens that the families miss."""

    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 16, 4, stride=4)
        self.register_token = nn.Parameter(torch.zeros(1, 2, 16))
        self.qkv = nn.Linear(16, 48)
        self.talk = nn.Parameter(torch.zeros(4, 4))
        self.gate = nn.Linear(16, 40)
        self.out = nn.Linear(20, 16)
        self.scale = nn.Parameter(torch.zeros(16))
        self.head = nn.Linear(16 * 4, N_CLASSES)
        self.register_buffer("order", torch.tensor([3, 0, 2, 1, 5, 4, 7, 6] * 2)[:16])

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        n_images, n_tokens, width = x.shape
        x = torch.cat([self.register_token.expand(n_images, -1, -1), x], dim=1)
        q, k, v = self.qkv(x).unflatten(-1, (3, 4, 4)).unbind(2)
        q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)
        attention = torch.einsum("bihd,bjhd->bhij", q, k) * 3.0
        attention = torch.einsum("bhij,hg->bgij", attention, self.talk)
        causal = torch.ones(n_tokens + 2, n_tokens + 2, dtype=torch.bool).tril(8)
        attention = attention.masked_fill(~causal, float("-inf")).softmax(dim=-1)
        x = x + torch.einsum("bhij,bjhd->bihd", attention, v).flatten(2)
        a, b = self.gate(x).chunk(2, dim=-1)
        x = x + self.out(F.gelu(a, approximate="tanh") * torch.sigmoid(b))
        head, tail = x.split([2, n_tokens], dim=1)
        tail = tail.index_select(2, self.order) + torch.roll(tail, 3, dims=1)
        rms = torch.rsqrt(tail.pow(2).mean(dim=-1, keepdim=True) + 1e-6)
        tail = tail * rms * (1 + self.scale)
        spread = torch.sqrt(tail.var(dim=1, unbiased=False) + 1e-3)
        power = tail.clamp(min=1e-2).pow(3).mean(dim=1).pow(1.0 / 3)
        tiled = head.mean(dim=1).abs().repeat(1, 2)[:, 5:21]
        largest = torch.maximum(tail.amax(dim=1), torch.log1p(torch.exp(-tiled)))
        x = torch.stack([spread, power, largest - tiled, F.silu(tail.sum(dim=1) / 8)], dim=2)
        return self.head(x.flatten(1))


def randomise(model, seed):
    """Gives every weight a random value of a sane size; nothing is left at 0, 1 or 1e-6.

    Affine parameters of norms, biases, layer scales and tokens are random too, since a gradient
    that forgets one of them should show.
    """
    generator = torch.Generator().manual_seed(seed)

    def normal(tensor, std, mean=0.0):
        tensor.copy_(torch.randn(tensor.shape, generator=generator) * std + mean)

    def uniform(tensor, least, most):
        drawn = torch.rand(tensor.shape, generator=generator)
        tensor.copy_(drawn * (most - least) + least)

    # Wide enough that values reach the flat ends of ReLU6 and HardSwish.
    has_ends = any(isinstance(module, (nn.ReLU6, nn.Hardswish)) for module in model.modules())
    low, high = (1.5, 4.0) if has_ends else (0.6, 1.4)
    norms = (nn.BatchNorm2d, nn.LayerNorm, nn.GroupNorm, nn.InstanceNorm2d)
    with torch.no_grad():
        for module in model.modules():
            for name, tensor in module.named_parameters(recurse=False):
                if isinstance(module, norms):
                    uniform(tensor, low, high) if name == "weight" else normal(tensor, 0.2)
                elif "bias" in name and tensor.dim() == 1:
                    normal(tensor, 0.1)
                elif isinstance(module, nn.ConvTranspose2d):
                    normal(tensor, math.sqrt(2 / (tensor[0].numel())))
                elif isinstance(module, nn.Conv2d):
                    normal(tensor, math.sqrt(2 / tensor[0].numel()))
                elif name in ("gamma", "layer_scale"):
                    uniform(tensor, 0.3, 0.7)
                elif isinstance(module, nn.PReLU):
                    uniform(tensor, 0.1, 0.4)
                elif name.endswith("weight") and tensor.dim() == 2:
                    normal(tensor, math.sqrt(1.5 / tensor.shape[1]))
                else:
                    normal(tensor, 0.4)


def without_chance(model):
    """Puts the model in training mode, apart from dropout and stochastic depth."""
    model.train()
    for module in model.modules():
        if any(word in type(module).__name__.lower() for word in ("drop", "stochastic")):
            module.eval()
    return model


def settle_batch_norms(model, images, seed):
    """Makes running statistics those of `images`, then off by some, as in a trained network."""
    norms = [module for module in model.modules() if isinstance(module, nn.BatchNorm2d)]
    momenta = [norm.momentum for norm in norms]
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None
    with torch.no_grad():
        without_chance(model)(images)
        generator = torch.Generator().manual_seed(seed)
        for norm, momentum in zip(norms, momenta):
            norm.momentum = momentum
            noise = torch.randn(norm.running_mean.shape, generator=generator)
            norm.running_mean += 0.2 * noise * norm.running_var.sqrt()
            factor = torch.rand(norm.running_var.shape, generator=generator)
            norm.running_var *= 0.7 + 0.7 * factor
    return model.eval()


QUICK_GELU, GELU = QuickGELU, nn.GELU
