#!/usr/bin/env python3
"""picture.py FILE.png: draws the poster that `make ocr` reads: lines in English and Chinese, one of them turned.

picture.py --texts prints its texts instead, one a line, in the order in which the program prints them.
Packages of Debian: python3-pil, fonts-dejavu-core, fonts-wqy-zenhei. Other versions of them draw other pixels.
"""
import sys

WIDTH, HEIGHT = 560, 640
LATIN = "/usr/share/fonts/truetype/dejavu/DejaVuSans%s.ttf"
CHINESE = "/usr/share/fonts/truetype/wqy/wqy-zenhei.ttc"
INK, RED, WHITE = (32, 36, 44), (176, 32, 36), (250, 250, 244)
TURN = 4  # degrees, of the last line

# left, top, size, color, text
LINES = (
    (110, 34, 60, WHITE, "清风茶馆"),
    (112, 112, 26, WHITE, "Breeze Tea House"),
    (48, 186, 24, INK, "北京市朝阳区建国路88号"),
    (48, 226, 20, INK, "Open daily 9:30 - 22:00"),
    (48, 296, 30, INK, "龙井绿茶"),
    (424, 298, 28, RED, "68.00"),
    (48, 352, 26, INK, "Oolong (Fujian)"),
    (424, 352, 28, RED, "45.50"),
    (48, 406, 28, INK, "茉莉花茶Jasmine"),
    (424, 406, 28, RED, "32.00"),
    (48, 474, 18, INK, "Free Wi-Fi for guests"),
    (70, 560, 34, RED, "Thank you!欢迎再来"),
)


def draw():
    from PIL import Image, ImageDraw, ImageFont
    picture = Image.new("RGB", (WIDTH, HEIGHT), (238, 230, 212))
    canvas = ImageDraw.Draw(picture)
    canvas.rectangle((0, 0, WIDTH, 158), fill=(24, 92, 84))
    canvas.line((48, 272, WIDTH - 48, 272), fill=(160, 150, 130), width=2)
    for left, top, size, color, text in LINES:
        latin = ImageFont.truetype(LATIN % ("-Bold" if size in (26, 28) else ""), size)
        chinese = ImageFont.truetype(CHINESE, size)
        turned = text == LINES[-1][-1]
        mask = Image.new("L", (WIDTH, HEIGHT), 0)
        pen, x = ImageDraw.Draw(mask), left
        for character in text:
            font = chinese if ord(character) > 0x2000 else latin
            pen.text((x, top + size), character, fill=255, font=font, anchor="ls")
            x += font.getlength(character)
        if turned:
            mask = mask.rotate(TURN, Image.BICUBIC, center=(left, top))
        picture.paste(color, (0, 0), mask)
    return picture.quantize(64)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--texts":
        print("\n".join(line[-1] for line in LINES))
    elif sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    else:
        draw().save(sys.argv[1], optimize=True)


if __name__ == "__main__":
    main()
