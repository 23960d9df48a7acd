/* boxes.h - boxes of text: found in a map of probabilities, sorted, sampled, drawn. For ocr.c. */
#ifndef OCR_BOXES_H
#define OCR_BOXES_H

#include "../picture.h"

enum { MAP_SIDE = 960, BOXES = 1000 }; /* at most: sides of the map, boxes */

#define TEXT_PIXEL 0.3f /* probability above which a pixel shows text */
#define TEXT_BOX 0.6    /* mean probability of the pixels of a box, below which it is ignored */
#define UNCLIP 1.5 /* the network is trained on shrunken boxes: each side moves outward by area * UNCLIP / perimeter */

/* A parallelogram: its center, and the vectors from there to the middle of its right side and of its lower side. */
typedef struct box {
    double x, y, right[2], down[2];
} box;
/* Connected text pixels: of each row the first column, and the column after the last one; sum of the probabilities. */
typedef struct component {
    int top, bottom, left[MAP_SIDE], right[MAP_SIDE], pixels;
    double sum;
} component;

/* Collects the text pixels that are connected with the pixel `first`, also diagonally. Removes them from the map. */
static void collect(component *c, float *map, int width, int height, int first)
{
    static int queue[MAP_SIDE * MAP_SIDE];
    const int row = first / width;
    c->top = c->bottom = row;
    c->left[row] = first % width;
    c->right[row] = c->left[row] + 1;
    c->sum = (double)map[first];
    c->pixels = 1;
    queue[0] = first;
    map[first] = 0;
    for (int i = 0; i < c->pixels; i++)
        for (int k = 0; k < 9; k++) {
            const int x = queue[i] % width + k % 3 - 1, y = queue[i] / width + k / 3 - 1;
            if (x < 0 || x >= width || y < 0 || y >= height || !(map[y * width + x] > TEXT_PIXEL))
                continue;
            if (y < c->top || y > c->bottom) {
                c->top = y < c->top ? y : c->top;
                c->bottom = y > c->bottom ? y : c->bottom;
                c->left[y] = c->right[y] = x;
            }
            c->left[y] = x < c->left[y] ? x : c->left[y];
            c->right[y] = x >= c->right[y] ? x + 1 : c->right[y];
            c->sum += (double)map[y * width + x];
            queue[c->pixels++] = y * width + x;
            map[y * width + x] = 0;
        }
}

/* The smallest rectangle around the component, of those that are turned by a whole number of degrees, unclipped. Its
   right side is the end of the text: a box that is taller than wide has text that runs down. false: it is too small. */
static bool enclose(const component *c, box *b)
{
    double least = INFINITY, half[2] = {0, 0}, grow;
    for (int degrees = -45; degrees < 45; degrees++) {
        const double u = cos(degrees * 3.14159265358979 / 180), v = sin(degrees * 3.14159265358979 / 180);
        double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
        for (int y = c->top; y <= c->bottom; y++)
            for (int k = 0; k < 4; k++) {
                const int px = k % 2 == 0 ? c->left[y] : c->right[y], py = y + k / 2;
                const double along[2] = {px * u + py * v, py * u - px * v};
                for (int i = 0; i < 2; i++) {
                    low[i] = fmin(low[i], along[i]);
                    high[i] = fmax(high[i], along[i]);
                }
            }
        if ((high[0] - low[0]) * (high[1] - low[1]) >= least)
            continue;
        for (int i = 0; i < 2; i++)
            half[i] = (high[i] - low[i]) / 2;
        least = 4 * half[0] * half[1];
        b->x = (low[0] + half[0]) * u - (low[1] + half[1]) * v;
        b->y = (low[0] + half[0]) * v + (low[1] + half[1]) * u;
        b->right[0] = b->down[1] = u;
        b->right[1] = v;
        b->down[0] = -v;
    }
    grow = UNCLIP * least / (4 * (half[0] + half[1]));
    for (int i = 0; i < 2; i++) {
        b->right[i] *= half[0] + grow;
        b->down[i] *= half[1] + grow;
    }
    for (int i = 0; i < 2 && half[1] >= 1.5 * half[0]; i++) {
        const double right = b->right[i];
        b->right[i] = b->down[i];
        b->down[i] = -right;
    }
    return fmin(half[0], half[1]) >= 1.5;
}

/* Whether a is read before b: further up, or on the same line and further left. */
static bool is_before(const box *a, const box *b)
{
    const double height = fmin(fabs(a->down[1]) + fabs(a->right[1]), fabs(b->down[1]) + fabs(b->right[1]));
    return fabs(a->y - b->y) < height / 2 ? a->x < b->x : a->y < b->y;
}

/* Finds the boxes of text in a map of probabilities, which it clears, in pixels of the picture and in the order of
   reading. Returns their number, at most BOXES. */
static int find_boxes(float *map, int width, int height, const picture *p, box *boxes)
{
    static component c;
    int count = 0;
    for (int i = 0; i < width * height && count < BOXES; i++) {
        box b;
        int at = count;
        if (!(map[i] > TEXT_PIXEL))
            continue;
        collect(&c, map, width, height, i);
        if (!enclose(&c, &b) || !(c.sum / c.pixels >= TEXT_BOX))
            continue;
        b.x *= (double)p->width / width;
        b.right[0] *= (double)p->width / width;
        b.down[0] *= (double)p->width / width;
        b.y *= (double)p->height / height;
        b.right[1] *= (double)p->height / height;
        b.down[1] *= (double)p->height / height;
        for (; at > 0 && is_before(&b, &boxes[at - 1]); at--)
            boxes[at] = boxes[at - 1];
        boxes[at] = b;
        count++;
    }
    return count;
}

/* A corner of a box: 0 upper left, 1 upper right, 2 lower right, 3 lower left. */
static double corner(const box *b, int which, int axis)
{
    return (axis == 0 ? b->x : b->y) + (which == 1 || which == 2 ? 1 : -1) * b->right[axis] +
           (which >= 2 ? 1 : -1) * b->down[axis];
}

/* The width of a box that is scaled to `height` with its aspect ratio, at most `most`. */
static int columns_of(const box *b, int height, int most)
{
    return (int)fmin(most, ceil(height * hypot(b->right[0], b->right[1]) / hypot(b->down[0], b->down[1])));
}

/* Turns a box by 180 degrees. */
static void turn_box(box *b)
{
    for (int i = 0; i < 2; i++) {
        b->right[i] = -b->right[i];
        b->down[i] = -b->down[i];
    }
}

static void print_box(const box *b, double score)
{
    printf("%.3f ", score);
    for (int k = 0; k < 4; k++)
        printf(" %.0f,%.0f", corner(b, k, 0), corner(b, k, 1));
    printf("  ");
}

static void draw_box(picture *p, const box *b)
{
    static const uint8_t green[3] = {0, 200, 90};
    const double t = line_width(p) / 2.0;
    for (int k = 0; k < 4; k++) {
        const double x = corner(b, k, 0), dx = corner(b, (k + 1) % 4, 0) - x;
        const double y = corner(b, k, 1), dy = corner(b, (k + 1) % 4, 1) - y, steps = ceil(fmax(fabs(dx), fabs(dy)));
        for (int i = 0; i <= steps; i++)
            fill_rectangle(p, x + dx * i / steps - t, y + dy * i / steps - t, x + dx * i / steps + t,
                           y + dy * i / steps + t, green);
    }
}

/* Scales a box to columns x height: planes of blue, green and red, rows of `stride` values, (color / 255 - mean) /
   deviation. A value is the mean of a rectangle of the picture that is at least one pixel wide, which interpolates
   linearly between pixels. */
static void sample(const picture *p, const box *b, int height, int columns, int stride, const double *mean,
                   const double *deviation, float *out)
{
    const double w = fmax(1, 2 * hypot(b->right[0], b->right[1]) / columns) / 2;
    const double h = fmax(1, 2 * hypot(b->down[0], b->down[1]) / height) / 2;
    for (int row = 0; row < height; row++)
        for (int column = 0; column < columns; column++) {
            const double i = (2 * column + 1.0) / columns - 1, j = (2 * row + 1.0) / height - 1;
            const double x = fmax(w, fmin(p->width - w, b->x + i * b->right[0] + j * b->down[0]));
            const double y = fmax(h, fmin(p->height - h, b->y + i * b->right[1] + j * b->down[1]));
            double color[3];
            mean_color(p, x - w, y - h, x + w, y + h, color);
            for (int c = 0; c < 3; c++)
                out[(c * height + row) * stride + column] = (float)((color[2 - c] / 255 - mean[c]) / deviation[c]);
        }
}

#endif
