// Package frame is what every page of the dashboard stands in. It owns the layout and the
// navigation, the admission of visitors, forms and their tokens, pages that refuse,
// secrets that are shown once, and transactions in which the visitor's permission is
// checked again. Drawings and tables of figures are in frame/chart, tools for tests in
// frame/frametest.
//
// It owns no page and no rule behind one. It imports no domain but the vocabulary of
// people, members and permissions. Signing in, sessions and the headers of pages come
// from outside as [Site]. Pages are made on the server and need no script.
//
// # Add a page
//
// A page belongs to a room: a package of rest/dashboard with the pages of one area, such
// as insight or organization. A page is three things in its room:
//
//  1. A template, pages/thing.html, that defines "page".
//  2. A handler in its own file, thing.go.
//  3. A line in the route table, in the function routes or Routes of the room.
//
// The template may use the frame's templates "form", "secret", "chart" and "table"
// (frame/pages/parts.html) and those in the room's own pages/parts.html.
//
// The handler reads through an interface that the room declares in its Config. It ends in
// Show, Fail or Refuse of [Pages], which the room embeds:
//
//	func (h thingHandlers) showThing(w http.ResponseWriter, r *http.Request, v people.Visitor) {
//		thing, err := h.Things.Thing(r.Context(), v.Org.ID, r.PathValue("id"))
//		if err != nil {
//			h.Fail(w, r, v, err)
//			return
//		}
//		h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "thing", Title: "Thing", Data: newThingView(thing)})
//	}
//
// The line in the route table:
//
//	{Path: "/things/{id}", Needs: members.MayViewThings, Get: h.showThing, Post: h.editThing},
//
// The route brings admission, the permission, the refusal of other methods and the check
// of a form's token. A handler repeats none of them. Three rules hold for forms:
//
//   - A form starts with {{template "form" .Form}}. Form is [FormTo] of the path that the
//     form is sent to.
//   - The change runs in a transaction of [Frame.Permitted], and [Frame.Record] writes its
//     line of the audit log.
//   - The answer is [RedirectWithNotice] or [SeeOther], so that reloading it repeats
//     nothing. A form that was refused is shown again with the text of [Labels.Problem].
//
// Three more edits, where they apply: an interface of Config is wired in
// cmd/mailhelm/host/dashboard.go; an entry of the navigation is a line of areas in
// rest/dashboard/dashboard.go; a golden of the page is a line in the room's test of
// pages.
package frame
