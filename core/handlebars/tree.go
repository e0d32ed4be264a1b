package handlebars

import "github.com/mailhelm/mailhelm/core/htmlcontext"

// program is a sequence of nodes: a whole template or one arm of a block.
type program struct {
	body []*node
	// chained is true for the arm that {{else if}} opens. Its only node is that block.
	chained bool
}

// nodeKind says what a node is.
type nodeKind uint8

const (
	// nodeText is text of the source.
	nodeText nodeKind = iota
	// nodeValue is {{x}} or {{{x}}}.
	nodeValue
	// nodeAsset is {{asset "path"}}.
	nodeAsset
	// nodeEmpty is a comment or a partial.
	nodeEmpty
	// nodeBlock is a block.
	nodeBlock
)

// strip says which sides of a tag have a "~".
type strip struct{ open, close bool }

// node is a part of a template. Which fields are set depends on the kind.
type node struct {
	kind nodeKind
	at   int // offset in the source

	// original is the text as written, and text is what remains of it after whitespace
	// control. The two marks mean that whitespace control has shortened the text.
	original, text              string
	leftStripped, rightStripped bool
	// skipped is the length of what whitespace control has removed at the beginning.
	skipped int

	strip strip
	// raw is true for {{{x}}} and {{&x}}.
	raw  bool
	path path
	// name is the name of a block or the path of an asset. For an asset, text is the tag as
	// it is written.
	name string
	// escape is how the value is escaped. The pass over the HTML sets it.
	escape htmlcontext.Escape

	main, other                         *program // the arms of a block; other may be nil
	openStrip, inverseStrip, closeStrip strip
}

// source is where a path begins.
type source uint8

const (
	fromContext source = iota
	fromRoot
	fromIndex
	fromFirst
	fromLast
	fromKey
)

// path is the name of a value.
type path struct {
	at   int
	from source
	// up is the number of ../ at the beginning; after @ it counts the loops around.
	up       int
	segments []segment
}

// segment is one name of a path.
type segment struct {
	name string
	// index is the name as the index of an array, or -1.
	index int
}
