package core

// Page is one page of a list as an operation returns it. REST shows it as an [Envelope]
// with a cursor, the agent endpoint as a [Sample] with the total.
type Page[T any] struct {
	Items []T `json:"items"`
	// Next is the cursor of the following page, "" on the last.
	Next string `json:"next,omitempty" voice:"ours"`
	// Total is the number of items on all pages. REST does not show it.
	Total int `json:"total"`
}

// Envelope is a page in a REST response.
type Envelope[T any] struct {
	Data       []T        `json:"data"`
	Pagination Pagination `json:"pagination"`
}

// Next returns the cursor of the following page, "" on the last. Links to the next page use
// it.
func (e Envelope[T]) Next() string {
	if e.Pagination.NextCursor == nil {
		return ""
	}
	return *e.Pagination.NextCursor
}

// Pagination says whether more items follow, and where the next page starts.
type Pagination struct {
	HasMore    bool    `json:"has_more" jsonschema_description:"Whether another page follows."`
	NextCursor *string `json:"next_cursor" voice:"ours" jsonschema:"nullable" jsonschema_description:"Opaque cursor of the next page; null on the last page."`
}

// Sample is a page in a result for an agent. It has some items of a list and the number of
// all items of the list.
type Sample[T any] struct {
	Items     []T    `json:"items"`
	Shown     int    `json:"shown" jsonschema_description:"How many items are in this answer."`
	Total     int    `json:"total" jsonschema_description:"How many there are in all."`
	Truncated bool   `json:"truncated" jsonschema_description:"Whether some are left out."`
	More      string `json:"more,omitempty" voice:"ours" jsonschema_description:"How to get the ones left out."`
}

// WasTruncated reports whether the list has items that the sample does not contain.
func (s Sample[T]) WasTruncated() bool { return s.Truncated }

// RESTView returns the page as an [Envelope].
func (p Page[T]) RESTView() Envelope[T] {
	e := Envelope[T]{Data: p.Items, Pagination: Pagination{HasMore: p.Next != ""}}
	if e.Data == nil {
		e.Data = []T{}
	}
	if p.Next != "" {
		e.Pagination.NextCursor = &p.Next
	}
	return e
}

// AgentView returns the page as a [Sample].
func (p Page[T]) AgentView() Sample[T] {
	s := Sample[T]{Items: p.Items, Shown: len(p.Items), Total: p.Total}
	if s.Items == nil {
		s.Items = []T{}
	}
	if s.Shown < s.Total {
		s.Truncated = true
		s.More = "Narrow the query or raise the limit; the REST API pages through all of them."
	}
	return s
}

// Collection is a list that always fits one response: REST shows {data}, without
// pagination.
type Collection[T any] struct {
	Data []T `json:"data"`
}
