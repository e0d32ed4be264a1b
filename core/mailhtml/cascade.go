package mailhtml

import (
	"cmp"
	"errors"
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/andybalholm/cascadia"
	xhtml "golang.org/x/net/html"
)

// The bounds of the cascade. A mail of 500 KB with 2,000 rules needs a small part of them.
const (
	// maxSource is the maximum length of the input and output of Inline in bytes.
	maxSource = 1 << 20
	// maxRules is the maximum number of rules.
	maxRules = 10_000
	// maxSteps is the maximum number of steps of matching. A comparison of a selector with an
	// element is one step if the nameFilter excludes it. A comparison of a part of a selector
	// with an element costs partSteps.
	maxSteps  = 100_000_000
	partSteps = 10
	// maxMatches is the maximum number of declarations of rules for all elements together.
	maxMatches = 1_000_000
)

// ErrTooComplex is the error for a mail whose rules would take too long to apply: it has too
// many rules, or too many elements for them.
var ErrTooComplex = errors.New("the style rules of the mail are too complex to be applied")

// elementStyle has what the cascade found out about an element.
type elementStyle struct {
	matches []match
	// open is true if data decides which classes or id the element has.
	open bool
	// names has the element's tag, classes and id, above those of its ancestors.
	names, above nameFilter
	// unsure is true if data decides which rules apply to the element.
	unsure bool
	// own has the declarations of the style attribute.
	own []declaration
	// merged has the declarations that apply to the element, in ascending order of
	// precedence. It equals own if no rule applies.
	merged []declaration
}

// match says that a rule applies to an element.
type match struct {
	rule        *rule
	specificity cascadia.Specificity
}

// certainty says whether a selector matches an element: no, for some data, or for all data.
type certainty int

const (
	never certainty = iota
	maybe
	always
)

// sheet is a style element whose rules are applied.
type sheet struct {
	tag   int // the index of its start tag in the tokens
	rules []rule
}

// cascade applies the rules of the style elements to the elements.
type cascade struct {
	*document
	sheets         []sheet
	steps, matches int
	// byTag, byClass and byID have the elements by their names, in the order of the source.
	byTag, byClass, byID map[string][]*element
	// styled has all elements that can have a style.
	styled []*element
}

// applyRules sets the styles of all elements. It returns the style elements.
func (d *document) applyRules() ([]sheet, error) {
	c := &cascade{document: d, byTag: map[string][]*element{}, byClass: map[string][]*element{}, byID: map[string][]*element{}}
	if err := c.readSheets(); err != nil {
		return nil, err
	}
	c.prepare()
	for i := range c.sheets {
		for j := range c.sheets[i].rules {
			if err := c.apply(&c.sheets[i].rules[j]); err != nil {
				return nil, err
			}
		}
	}
	for _, e := range c.styled {
		e.merge()
	}
	return c.sheets, nil
}

// readSheets reads the rules of all style elements. Style elements for certain media are
// not read.
func (c *cascade) readSheets() error {
	n := 0
	for i, t := range c.tokens[:max(0, len(c.tokens)-1)] {
		content := c.tokens[i+1]
		if t.kind != startTag || t.name != "style" || content.kind != text || t.element.parent.name == "noscript" || !c.appliesToAll(t) {
			continue
		}
		rules := readRules(c.raw(content), content.start)
		if t.element.blocks > 0 {
			for j := range rules {
				rules[j].conditional, rules[j].stays = true, true
			}
		}
		c.sheets = append(c.sheets, sheet{tag: i, rules: rules})
		if n += len(rules); n > maxRules {
			return fmt.Errorf("%w: there are more than %d rules", ErrTooComplex, maxRules)
		}
	}
	return nil
}

// appliesToAll reports whether the attributes of a style element allow its rules to be
// applied in advance.
func (c *cascade) appliesToAll(t token) bool {
	for _, a := range t.attributes {
		v := strings.ToLower(strings.TrimSpace(c.source[a.valueStart:a.valueEnd]))
		switch {
		case a.conditional, a.name == "media" && v != "" && v != "all", a.name == "type" && v != "" && v != "text/css":
			return false
		case a.name == "data-embed", a.name == "amp4email-boilerplate", a.name == "amp-custom":
			return false
		}
	}
	return !t.loose
}

// unstyled has the elements that never have a style.
var unstyled = setOf("head title meta link base style script noscript template")

// prepare sets the attributes by which elements are matched, and the indexes.
func (c *cascade) prepare() {
	for _, e := range c.elements {
		e.style.above = e.parent.namesInside()
		e.style.names = anyName
		if unstyled[e.name] || unstyled[e.parent.name] {
			continue
		}
		c.styled = append(c.styled, e)
		e.style.names = filterOf(e.name)
		c.byTag[e.name] = append(c.byTag[e.name], e)
		e.style.open = c.tokens[e.tag].loose
		for _, a := range c.tokens[e.tag].attributes {
			c.attribute(e, a)
		}
		if e.style.open {
			// Its names are not known. It is a candidate for each selector.
			e.style.names = anyName
			c.byClass[""], c.byID[""] = append(c.byClass[""], e), append(c.byID[""], e)
		}
	}
}

// nameFilter is a Bloom filter for names of elements: a name that has a bit which is not set
// is not in it.
type nameFilter uint64

// anyName is the filter for names that are not known.
const anyName = ^nameFilter(0)

// filterOf returns the filter for one tag, class or id. It is empty for "".
func filterOf(name string) nameFilter {
	if name == "" {
		return 0
	}
	hash := uint32(2166136261) // FNV-1a
	for i := range len(name) {
		hash = (hash ^ uint32(name[i])) * 16777619
	}
	return 1 << (hash >> 26)
}

// namesInside returns the names of the element and its ancestors.
func (e *element) namesInside() nameFilter {
	if e.parent != nil && e.tag < 0 {
		return e.parent.namesInside() | filterOf(e.name)
	}
	return e.style.above | e.style.names
}

// attribute sets one attribute of an element.
func (c *cascade) attribute(e *element, a attribute) {
	raw := c.source[a.valueStart:a.valueEnd]
	naming := a.name == "class" || a.name == "id"
	_, plain := unescaped(raw)
	switch {
	case a.name == "style":
		if e.readOwn(raw); a.conditional {
			e.style.unsure = true
		}
		return
	case naming && (a.conditional || !plain):
		e.style.open = true
		return
	case a.conditional || strings.Contains(a.name, "{{"):
		return
	}
	value := html.UnescapeString(raw)
	if !plain {
		value = "\x00" // no selector has this value
	}
	for _, earlier := range e.node.Attr {
		if earlier.Key == a.name {
			return
		}
	}
	e.node.Attr = append(e.node.Attr, xhtml.Attribute{Key: a.name, Val: value})
	switch a.name {
	case "id":
		e.style.names |= filterOf(value)
		c.byID[value] = append(c.byID[value], e)
	case "class":
		names := strings.Fields(value)
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			e.style.names |= filterOf(name)
			c.byClass[name] = append(c.byClass[name], e)
		}
	}
}

// unescaped returns the text of an attribute value with character references replaced
// outside of Handlebars tags, and whether it has no tags.
func unescaped(raw string) (value string, plain bool) {
	var b strings.Builder
	plain = true
	eachPiece(raw, func(piece string, tag bool) {
		plain = plain && !tag
		b.WriteString(piece)
	})
	return b.String(), plain
}

// readOwn reads the style attribute. Rules are not applied to an element with a style
// attribute that data decides about, or whose syntax is wrong.
func (e *element) readOwn(raw string) {
	value, _ := unescaped(raw)
	c := readCSS(value)
	own, fault := c.declarations(0, len(c.tokens))
	// Character references for braces must not become tags.
	reference := strings.Count(value, "{") != strings.Count(raw, "{")
	if e.style.own != nil || fault != "" || reference || len(c.conditional) > 0 {
		e.style.unsure = true
		return
	}
	e.style.own = own
}

// apply finds the elements to which a rule applies.
func (c *cascade) apply(r *rule) error {
	before := c.matches
	for _, s := range r.selectors {
		for _, list := range c.candidates(&s.parts[len(s.parts)-1]) {
			for _, e := range list {
				if c.steps++; s.above&^e.style.above != 0 && c.steps <= maxSteps {
					continue
				}
				found := c.match(s, len(s.parts)-1, e)
				if c.steps > maxSteps || c.matches > maxMatches {
					return ErrTooComplex
				}
				if found != never {
					if r.conditional {
						found = maybe
					}
					c.note(e, r, s, found)
				}
			}
		}
	}
	if c.matches == before {
		// It may be for HTML that a mail program adds.
		r.stays = true
	}
	return nil
}

// note records that a rule applies to an element, or may apply.
func (c *cascade) note(e *element, r *rule, s *selector, found certainty) {
	e.style.unsure = e.style.unsure || found == maybe
	if n := len(e.style.matches); n > 0 && e.style.matches[n-1].rule == r {
		if m := &e.style.matches[n-1]; m.specificity.Less(s.specificity) {
			m.specificity = s.specificity
		}
		return
	}
	c.matches += 1 + len(r.declarations)
	e.style.matches = append(e.style.matches, match{rule: r, specificity: s.specificity})
}

// candidates returns lists with all elements that the part of a selector may match.
func (c *cascade) candidates(part *compound) [][]*element {
	switch {
	case part.id != "":
		return [][]*element{c.byID[part.id], c.byID[""]}
	case part.class != "":
		return [][]*element{c.byClass[part.class], c.byClass[""]}
	case part.tag != "":
		return [][]*element{c.byTag[part.tag]}
	}
	return [][]*element{c.styled}
}

// match matches the parts of a selector up to the index i, the last of them with e.
func (c *cascade) match(s *selector, i int, e *element) certainty {
	if e.parent == nil || c.steps > maxSteps {
		return never
	}
	part := &s.parts[i]
	found := c.matchPart(part, e)
	if found == never || i == 0 {
		return found
	}
	best := never
	switch part.combinator {
	case '>':
		best = c.match(s, i-1, e.parent)
	case ' ':
		for p := e.parent; p != nil && best != always; p = p.parent {
			best = max(best, c.match(s, i-1, p))
		}
	default:
		best = c.matchSibling(s, i, e)
	}
	return min(found, best)
}

// matchSibling is match for the combinators "+" and "~".
func (c *cascade) matchSibling(s *selector, i int, e *element) certainty {
	if e.parent.varied {
		return maybe
	}
	for sibling := e.previous; sibling != nil; sibling = sibling.previous {
		if c.steps > maxSteps {
			return never
		}
		found := c.match(s, i-1, sibling)
		if found != never || s.parts[i].combinator == '+' {
			return found
		}
	}
	return never
}

// matchPart matches one part of a selector with an element.
func (c *cascade) matchPart(part *compound, e *element) certainty {
	c.steps += partSteps
	if part.plain != nil && !part.plain.Match(&e.node) {
		if e.style.open && part.named && (part.tag == "" || part.tag == e.name) {
			return maybe
		}
		return never
	}
	found := always
	if e.style.open && part.negated {
		found = maybe
	}
	if !part.positional {
		return found
	}
	if e.parent.varied {
		return maybe
	}
	c.steps += partSteps / 2 * e.parent.children
	if !part.full.Match(&e.node) {
		return never
	}
	return found
}

// merge sets the declarations that apply to the element. If it is not certain which rules
// apply, the element keeps its own style, and the rules stay in their style elements.
func (e *element) merge() {
	e.style.merged = e.style.own
	if len(e.style.matches) == 0 {
		return
	}
	if e.style.unsure {
		for _, m := range e.style.matches {
			m.rule.stays = true
		}
		return
	}
	slices.SortStableFunc(e.style.matches, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.specificity[0], b.specificity[0]), cmp.Compare(a.specificity[1], b.specificity[1]),
			cmp.Compare(a.specificity[2], b.specificity[2]))
	})
	e.style.merged = mergeLayers(e.layers())
}

// layer has declarations with the same precedence.
type layer []declaration

// layers returns the declarations of the rules and of the style attribute in ascending order
// of precedence (CSS Cascading and Inheritance, section 6.1): normal ones of rules, normal
// ones of the attribute, important ones of rules, important ones of the attribute.
func (e *element) layers() []layer {
	var all, important []layer
	for _, m := range e.style.matches {
		var low, high layer
		for _, d := range m.rule.declarations {
			if d.important {
				// In the attribute it needs no mark, and without one a media query can still
				// override it.
				d.important = false
				high = append(high, d)
			} else {
				low = append(low, d)
			}
		}
		all, important = append(all, low), append(important, high)
	}
	var low, high layer
	for _, d := range e.style.own {
		if d.important {
			high = append(high, d)
		} else {
			low = append(low, d)
		}
	}
	all = append(all, low)
	all = append(all, withoutRepeated(important, low)...)
	return append(all, high)
}

// withoutRepeated removes the properties whose most important declaration the style
// attribute already has. They stay in their places there, so that applying the rules again
// changes nothing.
func withoutRepeated(important []layer, own layer) []layer {
	strongest := map[string]declaration{}
	for _, l := range important {
		for _, d := range l {
			strongest[d.property] = d
		}
	}
	repeated := map[string]bool{}
	for _, d := range own {
		if strongest[d.property] == d {
			repeated[d.property] = true
		}
	}
	for i := range important {
		important[i] = slices.DeleteFunc(important[i], func(d declaration) bool { return repeated[d.property] })
	}
	return important
}

// mergeLayers returns the declarations of each property from the last layer that has it.
func mergeLayers(layers []layer) []declaration {
	last := map[string]int{}
	for i, l := range layers {
		for _, d := range l {
			last[d.property] = i
		}
	}
	var merged []declaration
	for i, l := range layers {
		for _, d := range l {
			if last[d.property] == i {
				merged = append(merged, d)
			}
		}
	}
	return merged
}
