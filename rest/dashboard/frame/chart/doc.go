// Package chart draws figures over time as SVG: stacked bars and lines, made on
// the server and the same for the same figures.
//
// A drawing holds no text that is shown, because it is stretched to whatever width
// there is; the page writes the ends of both axes beside it. It has a title and a
// description for those who do not see it, takes its colours from the page's
// stylesheet by the classes s1, s2 and so on, and needs no script. What the
// figures are about is the caller's.
package chart
