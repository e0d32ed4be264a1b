// Package chart draws figures over time as SVG charts, with stacked bars or lines, and
// lists the same figures in a table. Bars are for counts, lines for rates. Equal figures
// give equal charts.
//
// The positions in a chart are percentages of its width and height. So the page scales it
// without distorting its text. Lines are in an inner image, which is stretched. The page
// writes the labels of the axes as HTML.
//
// The chart has a title and a description for screen readers. Its colours come from the
// page's stylesheet, by the class of each [Color]. It needs no script: browsers show the
// values of a day on hover. The dashboard's script adds the same for the keyboard.
package chart
