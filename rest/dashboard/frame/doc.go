// Package frame has what all pages of the dashboard share: the sidebar and the top of a
// page, the sign-in check, calls of operations, forms and their tokens, refusals, and
// secrets that are shown once. It also has transactions that check the visitor's permission
// again. Charts and tables are in frame/chart, tools for tests in frame/frametest.
//
// The frame has no pages of its own apart from refusals. It uses the types of people,
// members and permissions, but not the records that single pages show. The program
// implements the interface [Site] for sign-in, sessions and the headers of pages. Pages are
// rendered on the server and need no script. assets/dashboard.js adds conveniences, and
// assets/dashboard.css is the stylesheet.
//
// # Add a page
//
// A page belongs to a room: a package of rest/dashboard with the pages of one area, such as
// insight or organization. A page has three parts in its room:
//
//  1. A template, pages/thing.html, that defines "page".
//  2. A handler in its own file, thing.go.
//  3. A line in the route table, in the function routes or Routes of the room.
//
// The template may use the frame's templates, such as "form", "copy", "when", "pager" and
// "empty" (frame/pages/parts.html), and those in the room's own pages/parts.html. The frame
// writes the heading and the buttons; see [Head].
//
// The handler reads data by calling operations ([Frame.Read], [Frame.Do]), or, if there is
// no operation for a task, through an interface that the room declares in its Config. Such
// an interface is called in [ReadExpensive] if it reads many rows. [List] is a page of a
// list, [ReadAll] reads a whole one. [Labels.FilterProblem] has the text for refused
// filters, and [DayRange] reads filters by day. The handler ends with a call of Show, Fail
// or Refuse of [Pages], which the room embeds:
//
//	func (h thingHandlers) showThing(w http.ResponseWriter, r *http.Request, v people.Visitor) {
//		var thing thingRecord // the members that the page shows
//		if err := h.Read(r, v, "things_get", map[string]string{"id": r.PathValue("id")}, &thing); err != nil {
//			h.Fail(w, r, v, err)
//			return
//		}
//		h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "thing", Title: thing.Name, Data: newThingView(thing)})
//	}
//
// The line in the route table:
//
//	{Path: "/things/{id}", Needs: members.MayViewThings, Get: h.showThing, Post: h.editThing},
//
// The frame checks sign-in, the permission, the method and the token of a form before it
// calls the handler. A handler repeats none of these checks. Three rules apply to forms:
//
//   - A form starts with {{template "form" .Form}}. Form is [FormTo] of the path to which the
//     form is sent.
//   - The change is a call of an operation. Without an operation, it runs in a transaction
//     of [Frame.TransactorWith], and [Frame.Record] adds its event to the audit log.
//   - The answer is [RedirectWithNotice] or [SeeOther], so that a reload does not repeat the
//     change. A refused form is shown again with the text of [Labels.Problem].
//
// Some pages need more edits. If the page uses a new interface of Config, set it in
// cmd/mailhelm/serve/dashboard.go. Add an entry of the navigation to Areas in
// rest/dashboard/dashboard.go. Add the page to the room's test of golden pages.
package frame
