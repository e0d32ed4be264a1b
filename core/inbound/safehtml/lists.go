package safehtml

import "strings"

// set returns the words of a text.
func set(words string) map[string]bool {
	s := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		s[word] = true
	}
	return s
}

var (
	// allowedElements are written. Of others only the content is.
	allowedElements = set(`
		a abbr address article aside b bdi bdo big blockquote br caption center cite code col colgroup
		dd del dfn div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hr i img ins kbd
		li main mark nav ol p pre q s samp section small span strike strong sub sup table tbody td
		tfoot th thead time tr tt u ul var wbr`)

	// emptyElements have no end tag.
	emptyElements = set("br col hr img wbr")

	// droppedElements are left out with their content. Of others, such as video, the content is
	// what a mail program shows that does not know them.
	droppedElements = set(`
		datalist frameset iframe math noembed noframes noscript plaintext portal script select style svg
		template textarea title xmp`)

	// allowedAttributes have no address, no script, and no name by which anything refers to the
	// element.
	allowedAttributes = set(`
		abbr align alt bgcolor border cellpadding cellspacing color colspan datetime dir face height
		lang nowrap reversed rowspan scope size span start title type valign value width`)

	// rasterImages are the beginnings of data: URLs with images.
	rasterImages = set("data:image/png data:image/jpeg data:image/jpg data:image/gif data:image/webp data:image/bmp")

	// styleProperties are the properties that style attributes keep. None places an element
	// outside of the flow of the text.
	styleProperties = set(`
		background background-color border border-bottom border-bottom-color border-bottom-left-radius
		border-bottom-right-radius border-bottom-style border-bottom-width border-collapse border-color
		border-left border-left-color border-left-style border-left-width border-radius border-right
		border-right-color border-right-style border-right-width border-spacing border-style border-top
		border-top-color border-top-left-radius border-top-right-radius border-top-style border-top-width
		border-width box-shadow box-sizing caption-side clear color direction display empty-cells float
		font font-family font-size font-style font-variant font-weight height letter-spacing line-height
		list-style-type margin margin-bottom margin-left margin-right margin-top max-height max-width
		min-height min-width opacity overflow overflow-wrap padding padding-bottom padding-left
		padding-right padding-top table-layout text-align text-decoration text-indent text-overflow
		text-transform vertical-align visibility white-space width word-break word-spacing word-wrap`)

	// styleFunctions are the functions that values of styles may have. None has an address.
	styleFunctions = set("rgb rgba hsl hsla calc min max linear-gradient")
)
