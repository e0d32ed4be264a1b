// Package chart draws figures over time as SVG charts, with stacked bars or lines, and
// lists the same figures in a table. Equal figures give equal charts.
//
// An SVG chart contains no visible text, because the page scales it to the available width;
// the page writes the labels of the axes as HTML. The chart has a title and a description
// for screen readers. Its colours come from the page's stylesheet, by the classes s1, s2
// and so on. It needs no script.
package chart
