# docs/generate/contrast.py - text that is too faint, in a browser.
"""Contrast of a page's text by WCAG 2.2, success criterion 1.4.3 (AA).

Text has at least 4.5 times the luminance of what is behind it, or the other way
round; large text, from 24 pixels on or bold from 18.66, at least 3 times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

#: Every visible element with text of its own; colours are composed from the
#: outermost background inwards. Text on a picture is not judged.
PROGRAM = r"""() => {
  const numbers = text => {
    const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number);
    return text.startsWith('color(srgb')
      ? [255 * r, 255 * g, 255 * b, a] : [r, g, b, a];
  };
  const over = (top, below) => {
    const [r, g, b, a] = top;
    return [r, g, b].map((v, k) => v * a + below[k] * (1 - a));
  };
  const behind = element => {
    const chain = [];
    for (let e = element; e; e = e.parentElement) chain.unshift(e);
    let colour = [255, 255, 255];
    for (const e of chain) {
      const style = getComputedStyle(e);
      if (style.backgroundImage != 'none') return null;
      colour = over(numbers(style.backgroundColor), colour);
    }
    return colour;
  };
  const luminance = colour => {
    const [r, g, b] = colour.map(v => {
      v /= 255;
      return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = {};
  for (const e of document.body.querySelectorAll('*')) {
    const text = [...e.childNodes].filter(n => n.nodeType == Node.TEXT_NODE)
      .map(n => n.data.trim()).join('');
    const box = e.getBoundingClientRect();
    if (!text || !e.checkVisibility({visibilityProperty: true,
                                     opacityProperty: true}) ||
        box.width < 2 || box.height < 2 || e.closest('[disabled], svg'))
      continue;
    const below = behind(e);
    if (!below) continue;
    const style = getComputedStyle(e);
    const shown = over(numbers(style.color), below);
    const [dark, light] = [luminance(shown), luminance(below)]
      .sort((a, b) => a - b);
    const ratio = (light + 0.05) / (dark + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5)) {
      const hex = c => '#' + c.map(
        v => Math.round(v).toString(16).padStart(2, '0')).join('');
      const key = `${hex(shown)} on ${hex(below)}: ${ratio.toFixed(2)}`;
      found[key] ??= `${key}, ${e.tagName.toLowerCase()}` +
        `${e.className ? '.' + e.className : ''} '${text.slice(0, 30)}'`;
    }
  }
  return Object.values(found);
}"""


def too_faint(page: Page) -> list[str]:
    """Each pair of colours of the page that is too close, with one text."""
    found: list[str] = page.evaluate(PROGRAM)
    return found
