package frame

// Empty is the data of the template "empty", which stands in place of a list without
// entries.
type Empty struct {
	// Text says in one sentence what the list is for, or that the filter matches nothing.
	Text string
	// Action is the next step, nil for none. Guide links to the documentation, nil for none.
	Action *Action
	Guide  *Link
}

// Guide returns a link to a page of the documentation. path is the path of the page below
// DocsURL, such as "/guides/contacts".
func (f *Frame) Guide(path, name string) *Link { return &Link{Path: f.DocsURL + path, Name: name} }
