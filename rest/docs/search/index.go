package search

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Entry is a place of the documentation that a search can find.
type Entry struct {
	// Path is the path of the page, and ID the fragment, or "".
	Path, ID string
	// Title is the title of the page. Heading is that of the section, or the key of a row;
	// "" for the beginning of a page.
	Title, Heading string
	// Body is the text of the section or row.
	Body string
}

// The weights of a term by the place where it stands. A term in a title counts as much as
// many in a text.
const (
	titleWeight   = 8
	headingWeight = 6
	bodyWeight    = 1
)

// Index is an inverted index. It does not change, so it may be used concurrently.
type Index struct {
	entries  []Entry
	postings map[string][]posting
	terms    []string // sorted, to find those with a prefix
}

// posting says that an entry has a term, with the sum of the weights of its places.
type posting struct {
	entry  int
	weight float64
}

// New returns an index of the entries.
func New(entries []Entry) *Index {
	x := &Index{entries: entries, postings: map[string][]posting{}}
	for i, e := range entries {
		weights := map[string]float64{}
		add := func(text string, weight float64) {
			for _, term := range Terms(text) {
				weights[term] += weight
			}
		}
		if e.Heading == "" {
			add(e.Title+" "+e.Path, titleWeight)
		} else {
			add(e.Title, bodyWeight)
			add(e.Heading, headingWeight)
		}
		add(e.Body, bodyWeight)
		for term, weight := range weights {
			x.postings[term] = append(x.postings[term], posting{i, weight})
		}
	}
	for term := range x.postings {
		x.terms = append(x.terms, term)
	}
	slices.Sort(x.terms)
	return x
}

// Entries returns all entries. Callers must not change them.
func (x *Index) Entries() []Entry { return x.entries }

// MaxQuery is the number of bytes of a query that are read.
const MaxQuery = 200

// Limits of a search. They bound its time and its answer.
const (
	maxTerms   = 8
	maxResults = 30
	maxPerPage = 4
	maxPrefix  = 200 // terms that one prefix stands for
)

// Result is an entry that a search found. Score orders the results; Snippet is the part of
// the text with the terms.
type Result struct {
	Entry

	Score   float64
	Snippet []Part
}

// Search returns the best entries for a query, best first. An entry must have all terms of
// the query. A term of a query also finds longer terms that begin with it.
func (x *Index) Search(query string) []Result {
	if len(query) > MaxQuery {
		query = query[:MaxQuery]
	}
	terms := queryTerms(query)
	if len(terms) == 0 {
		return nil
	}
	var scores map[int]float64
	for _, term := range terms {
		found := x.find(term)
		if scores == nil {
			scores = found
			continue
		}
		for entry := range scores {
			weight, ok := found[entry]
			if !ok {
				delete(scores, entry)
				continue
			}
			scores[entry] += weight
		}
	}
	return x.best(scores, strings.ToLower(strings.TrimSpace(query)), terms)
}

// find returns the score of each entry for one term.
func (x *Index) find(term string) map[int]float64 {
	scores := map[int]float64{}
	first, _ := slices.BinarySearch(x.terms, term)
	for _, known := range x.terms[first:min(len(x.terms), first+maxPrefix)] {
		if !strings.HasPrefix(known, term) {
			break
		}
		list := x.postings[known]
		rarity := math.Log(1 + float64(len(x.entries))/float64(len(list)))
		if known != term {
			rarity /= 2
		}
		for _, p := range list {
			// More occurrences count less and less.
			scores[p.entry] = max(scores[p.entry], rarity*(1+math.Log(p.weight)))
		}
	}
	return scores
}

// best returns the entries with the highest scores, at most a few of one page. An entry
// whose title or heading is the whole query comes first.
func (x *Index) best(scores map[int]float64, whole string, terms []string) []Result {
	results := make([]Result, 0, len(scores))
	for i, score := range scores {
		e := x.entries[i]
		name := cmp.Or(e.Heading, e.Title)
		if strings.EqualFold(name, whole) || e.Heading == "" && strings.HasSuffix(e.Path, "/"+whole) {
			score *= 3
		}
		if e.Heading == "" {
			score *= 1.5
		}
		results = append(results, Result{Entry: e, Score: score})
	}
	slices.SortFunc(results, func(a, b Result) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Path, b.Path), cmp.Compare(a.ID, b.ID))
	})
	perPage := map[string]int{}
	results = slices.DeleteFunc(results, func(r Result) bool {
		perPage[r.Path]++
		return perPage[r.Path] > maxPerPage
	})
	results = results[:min(len(results), maxResults)]
	for i := range results {
		results[i].Snippet = snippet(results[i].Body, terms)
	}
	return results
}
