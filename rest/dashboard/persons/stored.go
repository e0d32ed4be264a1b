package persons

import (
	"context"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/privacy"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// personPage is the data of the page about what is stored about a person.
type personPage struct {
	Email                       string
	Places                      places
	Refuses                     string // why mail is refused after the erasure, "" if it is not
	Erased                      *erasedBefore
	Export, Erase, Allow, Again frame.Form
}

// erasedBefore says when the person was erased, and why mail to the address is refused since.
type erasedBefore struct {
	At      frame.When
	Refuses string
}

// places is the list of places with data of the person.
type places struct {
	Rows []place
	// Erasing is the heading above what erasing does with the rows.
	Erasing string
	// ShowKept adds for how long the rows are kept if the person is not erased.
	ShowKept bool
}

// place is a row of the list of places with data of the person.
type place struct {
	Title string
	Rows  string
	// Does says what erasing does with the rows.
	Does string
	Kept string
}

// does says what the erasures do.
var does = map[privacy.Erasure]string{privacy.Delete: "deleted", privacy.Rewrite: "made anonymous"}

// refusals says what the reasons mean, as the start of a sentence.
var refusals = map[privacy.Refusal]string{
	privacy.OptedOut: "The person had opted out", privacy.Complained: "The person had complained about mail", privacy.Bounced: "Mail to the address had bounced for good",
}

// showPerson shows what is stored about the person with the typed address.
func (h *Room) showPerson(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if email, ok := h.email(w, r, v); ok {
		h.person(w, r, v, email, nil)
	}
}

// person shows what is stored about a person. wrong is the error of a form on this page, nil for
// none.
func (h *Room) person(w http.ResponseWriter, r *http.Request, v people.Visitor, email string, wrong error) {
	status, problem := http.StatusOK, ""
	if wrong != nil {
		var ok bool
		if status, problem, ok = problemOf(wrong); !ok {
			h.Fail(w, r, v, wrong)
			return
		}
	}
	report, err := h.count(r, v, email)
	if err != nil {
		h.refuseSearch(w, r, v, email, err)
		return
	}
	stone, err := h.Privacy.Tombstone(r.Context(), v.Org.ID, email)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := personPage{
		Email: email, Places: places{placesOf(report), "If erased", true}, Refuses: refusals[report.Refuses],
		Export: frame.FormTo(v, Path+"/export"), Erase: frame.FormTo(v, Path+"/erase"), Allow: frame.FormTo(v, Path+"/allow"), Again: frame.FormTo(v, Path),
	}
	if stone != nil {
		data.Erased = &erasedBefore{h.When(stone.ErasedAt), refusals[stone.Refuses]}
	}
	var parents []frame.Link // the frame adds the area to other paths
	if r.URL.Path == Path {
		parents = []frame.Link{{Path: Path, Name: "Personal data"}}
	}
	h.Show(w, r, v, status, frame.Screen{
		Page: "person", Title: "Data about " + frame.PlainName(email), Problem: problem, Head: frame.Head{Parents: parents}, Data: data,
	})
}

// count counts as an expensive read, so that searches of a large organization do not keep others
// waiting.
func (h *Room) count(r *http.Request, v people.Visitor, email string) (privacy.Report, error) {
	return frame.ReadExpensive(h.Frame, r, v, func(ctx context.Context) (privacy.Report, error) {
		return h.Privacy.Count(ctx, v.Org.ID, email)
	})
}

// refuseSearch shows the first page again with an error of the search.
func (h *Room) refuseSearch(w http.ResponseWriter, r *http.Request, v people.Visitor, email string, err error) {
	status, problem, ok := problemOf(err)
	if !ok {
		h.Fail(w, r, v, err)
		return
	}
	h.search(w, r, v, status, email, problem)
}

// problemOf returns the status and the text of an error that the visitor can do something about.
// For another one it returns false.
func problemOf(err error) (status int, problem string, ok bool) {
	e := core.AsError(err)
	switch e.Code {
	case core.CodeConflict, core.CodeUpstreamUnavailable, core.CodeNotFound, core.CodeOverloaded:
		return e.HTTPStatus(), e.Message + " " + e.NextStep(), true
	case core.CodeValidationFailed: // the address was checked before, so the search took too long
		return e.HTTPStatus(), "Searching this organization takes longer than a page may take. Ask the operator of the server, whose command `mailhelm admin person` has no such limit.", true
	default:
		return 0, "", false
	}
}

func placesOf(report privacy.Report) []place {
	var all []place
	for _, c := range report.Tables {
		all = append(all, place{c.Table.Title, core.WithCommas(c.Rows), does[c.Table.Erase], c.Table.Kept})
	}
	if report.Account.Contact != nil {
		all = append(all, place{"Contact list of the sending account", "1", does[privacy.Delete], "as long as the account has it"})
	}
	if report.Account.Suppressed != nil {
		all = append(all, place{"Suppression list of the sending account", "1", does[privacy.Delete], "as long as the account has it"})
	}
	return all
}

// exportPerson sends all data about the person, as a JSON file or as a page to read.
func (h *Room) exportPerson(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	email, ok := h.email(w, r, v)
	if !ok {
		return
	}
	e, err := frame.ReadExpensive(h.Frame, r, v, func(ctx context.Context) (privacy.Export, error) {
		return h.Privacy.Export(ctx, actorOf(v), v.Org.ID, email)
	})
	if err != nil {
		h.refuseSearch(w, r, v, email, err)
		return
	}
	name := "personal-data-" + e.ExportedAt.UTC().Format(frame.DateLayout)
	if r.PostForm.Get("format") == "json" {
		frame.BeginJSON(w, name+".json")
		err = writeJSON(w, e)
	} else {
		frame.BeginHTML(w, name+".html")
		err = WriteExport(w, e)
	}
	if err != nil {
		panic(http.ErrAbortHandler) // so that the browser reports an incomplete file
	}
}
