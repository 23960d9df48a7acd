#!/bin/sh
# test_cli_images.sh: pictures as inputs, and the metadata that say how. Arguments: cli.sh.
set -u
. tests/tools/cli.sh
models images vast

# ---- run: images ----

# image NAME CODE ARGUMENTS...: the model's output equals numpy's, within the error of float32 sums of at most 100
# terms.
image() {
    label=$1
    code=$2
    shift 2
    t 0 "$label" run "$@" --output-dir "$folder/i"
    py "$label" "np.allclose(load('i/y.npy').astype('float64'), $code, rtol=1e-5, atol=2e-5) and load('i/y.npy').shape == ($code).shape"
    silent "$label"
}
rgb="load('rgb_pixels.npy')[None].astype('float64')"
image 'NCHW from the shape' "$rgb / 255" "$folder/nchw.onnx" --input "$folder/rgb.png"
image 'NHWC from the shape' "($rgb / 255).transpose(0, 3, 1, 2)" "$folder/last.onnx" --input "$folder/rgb.png"
image '--layout nhwc' "($rgb / 255).transpose(0, 3, 1, 2)" "$folder/nhwc.onnx" --input "$folder/rgb.png" --layout nhwc
image '--bgr' "$rgb[..., ::-1] / 255" "$folder/nchw.onnx" --input "$folder/rgb.png" --bgr
image '--mean and --scale' "($rgb - [1, 20, 128.5]) * [0.5, 1 / 58.395, 2]" "$folder/nchw.onnx" --input "$folder/rgb.png" --mean 1,20,128.5 --scale 0.5,1/58.395,2
image 'one mean, one scale' "($rgb - 127.5) / 127.5" "$folder/nchw.onnx" --input "$folder/rgb.png" --mean 127.5 --scale 1/127.5
image '--gray on three channels' "np.repeat(($rgb @ [77, 150, 29]) // 256, 3).reshape(1, 4, 6, 3) / 255" "$folder/nchw.onnx" --input "$folder/rgb.png" --gray
image 'shrinking' "resize(load('large_pixels.npy'), 4, 6)[None] / 255" "$folder/nchw.onnx" --input "$folder/large.png"
image 'growing' "resize(load('grey_pixels.npy')[..., None], 11, 20)[None, ..., 0].transpose(0, 2, 1) / 255" "$folder/gray.onnx" --input "$folder/grey.png" --layout nchw --shape 1,11,20
image 'extents from the image' "load('grey_pixels.npy').T[None] / 255" "$folder/gray.onnx" --input "$folder/grey.png"
image 'an open number of channels' "$rgb / 255" "$folder/channels.onnx" --input "$folder/rgb.png"
image 'an open number of channels, --gray' "($rgb @ [77, 150, 29])[..., None] // 256 / 255" "$folder/channels.onnx" --input "$folder/rgb.png" --gray
image 'four channels, uint8' "load('rgba_pixels.npy')" "$folder/rgba.onnx" --input "$folder/rgba.png"
image 'int8' "$rgb - 128" "$folder/int8.onnx" --input "$folder/rgb.png"
image 'int8 is held inside its range' "np.clip($rgb, 0, 127)" "$folder/int8.onnx" --input "$folder/rgb.png" --mean 0
image '--std' "($rgb - [1, 20, 128.5]) / [2, 58.395, 0.5]" "$folder/nchw.onnx" --input "$folder/rgb.png" --mean 1,20,128.5 --std 2,58.395,0.5
image '--invert' "(255 - $rgb) / 255" "$folder/nchw.onnx" --input "$folder/rgb.png" --invert
image '--invert with --mean' "(255 - $rgb - 7) / 255" "$folder/nchw.onnx" --input "$folder/rgb.png" --invert --mean 7
image '--invert keeps alpha' "np.concatenate((255 - load('rgba_pixels.npy')[..., :3], load('rgba_pixels.npy')[..., 3:]), -1)" "$folder/rgba.onnx" --input "$folder/rgba.png" --invert
refused 2 '--std of 0' '--std does not take' run "$folder/nchw.onnx" --input "$folder/rgb.png" --std 1,0,1
refused 1 'a broken image' 'cannot use .*broken.png' run "$folder/nchw.onnx" --input "$folder/broken.png"
refused 1 'an image for no image' 'input .x. has 2 axes' run "$folder/open.onnx" --input "$folder/rgb.png"
refused 1 'wrong layout' 'is --layout right' run "$folder/nchw.onnx" --input "$folder/rgb.png" --layout nhwc
refused 1 'two means' 'one number or one per channel' run "$folder/nchw.onnx" --input "$folder/rgb.png" --mean 1,2
refused 1 '--rgb for one channel' 'require 3 or 4 channels' run "$folder/gray.onnx" --input "$folder/rgb.png" --rgb

# JPEG: the pixels of djpeg, in all positions in which a camera can be held (Exif).
for form in -progressive -optimize; do
    cjpeg -quality 95 $form "$folder/photo.ppm" >"$folder/photo.jpg" && djpeg "$folder/photo.jpg" >"$folder/photo.pnm" &&
        cjpeg -grayscale "$folder/photo.ppm" >"$folder/gray.jpg"
    photo="np.frombuffer(open(F + 'photo.pnm', 'rb').read()[-72:], np.uint8).reshape(1, 4, 6, 3)"
    image "JPEG $form" "$photo / 255" "$folder/nchw.onnx" --input "$folder/photo.jpg"
    image "JPEG $form --bgr" "$photo[..., ::-1] / 255" "$folder/nchw.onnx" --input "$folder/photo.jpg" --bgr
    image "JPEG $form, alpha" "np.concatenate(($photo[0], np.full((4, 6, 1), 255)), -1)" "$folder/rgba.onnx" --input "$folder/photo.jpg"
done
at=0
for upright in '' '[:, :, ::-1]' '[:, ::-1, ::-1]' '[:, ::-1]' '.transpose(0, 2, 1, 3)' '.transpose(0, 2, 1, 3)[:, :, ::-1]' '.transpose(0, 2, 1, 3)[:, ::-1, ::-1]' '.transpose(0, 2, 1, 3)[:, ::-1]'; do
    at=$((at + 1))
    py "orientation $at" "open(F + 'exif.jpg', 'wb').write(exif($at, '<>'[$at % 2])) > 0"
    image "JPEG, orientation $at" "$photo$upright / 255" "$folder/anysize.onnx" --input "$folder/exif.jpg"
done
head -c 300 "$folder/photo.jpg" >"$folder/cut.jpg"
refused 1 'half a JPEG image' 'cannot use .*cut.jpg: ' run "$folder/nchw.onnx" --input "$folder/cut.jpg"
printf '\377\330\377\340' >"$folder/cut.jpg"
refused 1 'the first bytes of a JPEG image' 'cannot use .*cut.jpg: ' run "$folder/nchw.onnx" --input "$folder/cut.jpg"
refused 1 'more pixels than the file justifies' 'vast.png: 20000 x 20000 pixels take more than 1[0-9]{6} bytes, the budget for [0-9]+ bytes of file; --budget [0-9]+ allows them' run "$folder/gray.onnx" --input "$folder/vast.png" --shape 1,8,8
# The reported budget suffices, one byte less does not; unconverted pixels count as a tensor, too.
for image in wide tall colour deeper palette woven; do
    for shape in '--shape 1,8,8' ''; do
        # shellcheck disable=SC2086  # several words, or none
        set -- run "$folder/gray.onnx" --input "$folder/$image.png" --layout nchw $shape
        refused 1 "$image.png $shape" "$image.png: [0-9]+ x [0-9]+ pixels .*--budget [0-9]+ allows them" "$@"
        budget=$(sed -n 's/.*--budget \([0-9]*\) allows them$/\1/p' "$folder/err")
        program=$plain
        t 0 "$image.png $shape --budget $budget" "$@" --budget "$budget"
        program=$sanitized
        [ "$budget" -le 2 ] || refused 1 "$image.png $shape, a budget of one less" 'allows them' "$@" --budget $((budget - 1))
    done
done
refused 1 'more data than the pixels' 'cannot use .*deep.png' run "$folder/gray.onnx" --input "$folder/deep.png" --shape 1,8,8
# ---- metadata: preprocessing ----

m="$folder/nchw.nnrt"
# convert_with NAME ARGUMENTS...: $m is the model with this metadata.
convert_with() {
    label=$1
    shift
    t 0 "$label" convert "$folder/nchw.onnx" "$m" "$@"
}
convert_with 'mean and scale' --meta input.x.mean=1,20,128.5 --meta input.x.scale=0.5,1/58.395,2 --meta description=d
image 'metadata: mean and scale' "($rgb - [1, 20, 128.5]) * [0.5, 1 / 58.395, 2]" "$m" --input "$folder/rgb.png"
image 'metadata: --mean above them' "($rgb - 3) * [0.5, 1 / 58.395, 2]" "$m" --input "$folder/rgb.png" --mean 3
image 'metadata: --std above scale' "($rgb - [1, 20, 128.5]) / 4" "$m" --input "$folder/rgb.png" --std 4
convert_with 'std' --meta input.x.std=2,58.395,0.5
image 'metadata: std' "$rgb / [2, 58.395, 0.5]" "$m" --input "$folder/rgb.png"
convert_with 'color bgr' --meta input.x.color=bgr --meta input.x.invert=yes
image 'metadata: color and invert' "(255 - $rgb[..., ::-1]) / 255" "$m" --input "$folder/rgb.png"
image 'metadata: --rgb and --no-invert above them' "$rgb / 255" "$m" --input "$folder/rgb.png" --rgb --no-invert
convert_with 'color gray' --meta input.x.color=gray --meta input.x.invert=no
image 'metadata: gray' "np.repeat(($rgb @ [77, 150, 29]) // 256, 3).reshape(1, 4, 6, 3) / 255" "$m" --input "$folder/rgb.png"
t 0 'layout' convert "$folder/nhwc.onnx" "$m" --meta input.x.layout=nhwc
image 'metadata: layout' "($rgb / 255).transpose(0, 3, 1, 2)" "$m" --input "$folder/rgb.png"
t 0 'again' convert "$m" "$folder/again.nnrt"
convert_with 'wrong layout' --meta input.x.layout=nhwc
refused 1 'metadata: wrong layout' 'is --layout right, or the metadata' run "$m" --input "$folder/rgb.png"
image 'metadata: --layout above it' "$rgb / 255" "$m" --input "$folder/rgb.png" --layout nchw
image 'metadata go along with convert' "($rgb / 255).transpose(0, 3, 1, 2)" "$folder/again.nnrt" --input "$folder/rgb.png"
convert_with 'two means' --meta input.x.mean=1,2
refused 1 'metadata: two means' 'mean and scale .or std. must be one number or one per channel; input .x. has 3 channels' run "$m" --input "$folder/rgb.png"
for c in 'mean=x:one number or one per channel' 'mean=1,2,3,4,5:one number or one per channel' 'scale=1,:one number' 'scale=inf:one number' \
    'std=0:.*none of them 0$' 'std=1,0:.*none of them 0$' 'color=red:rgb, bgr or gray$' 'layout=chw:nchw or nhwc$' \
    'invert=1:yes or no$' 'quantize=1:yes or no$' \
    'men=1:mean, scale, std, color, layout, invert or quantize after the input$'; do
    refused 1 "metadata ${c%%:*}" "^nnrt: .*nchw.onnx: metadata input.x.${c%%:*}: expected ${c#*:}" convert "$folder/nchw.onnx" "$folder/x.nnrt" --meta "input.x.${c%%:*}"
done
refused 1 'metadata of no input' "metadata input.y.mean=1: expected an input, one of 'x'" convert "$folder/nchw.onnx" "$folder/x.nnrt" --meta input.y.mean=1
refused 1 'metadata with scale and std' 'input.x.scale and input.x.std: expected one of them' convert "$folder/nchw.onnx" "$folder/x.nnrt" --meta input.x.scale=1 --meta input.x.std=1
absent 'refused metadata: a file was written' "$folder/x.nnrt"
# a file that something else wrote: the value is changed in place
convert_with 'a value to spoil' --meta input.x.color=bgr
py 'a value to spoil' "open(F + 'nchw.nnrt', 'r+b') and (lambda b: open(F + 'bad.nnrt', 'wb').write(b.replace(b'\0bgr\0', b'\0bad\0')))(open(F + 'nchw.nnrt', 'rb').read())"
refused 1 'a spoilt value' '^nnrt: .*bad.nnrt: metadata input.x.color=bad: expected rgb, bgr or gray$' run "$folder/bad.nnrt" --input "$folder/rgb.png"
t 0 'a spoilt value does not matter without an image' run "$folder/bad.nnrt" --input random

total
