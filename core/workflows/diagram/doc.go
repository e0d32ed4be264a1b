// Package diagram draws workflows as SVG: a box for each step from top to bottom, arms side
// by side, and a line back for a repetition.
//
//	svg := diagram.Draw(tree, diagram.Options{Counts: map[string]int{"0": 120}})
//
// The drawing uses no script and no external file. Its colours are in [Stylesheet], as
// variables with values for light and dark. All texts of the workflow are escaped. The same
// tree and options always give the same bytes.
//
// Each step has an element g with the class "step" and its path in the attribute data-path,
// and each arm one with the class "arm"; see package language for paths. An element title
// in them has the whole text, which a box may show shortened.
package diagram
