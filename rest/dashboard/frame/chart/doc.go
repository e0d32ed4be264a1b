// Package chart draws figures over time as SVG, stacked bars or lines, and lists them in a
// table. The same figures give the same drawing.
//
// A drawing contains no visible text, because the page stretches it to the available width;
// the page writes the ends of the axes beside it. It has a title and a description for
// screen readers. Its colours come from the page's stylesheet, by the classes s1, s2 and so
// on. It needs no script and knows nothing of what the figures mean.
package chart
