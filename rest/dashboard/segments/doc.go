// Package segments has the dashboard's pages about segments: the list, one segment with its
// members, the editor of predicates, and the pages that pause, resume, archive and restore a
// segment.
//
// The members and the preview come from operations. Saving a segment has no operation, so
// the editor calls core/segments in a transaction that checks the permission, and writes an
// event to the audit log. In an organization whose definitions come from a repository, the
// pages only read.
//
// Names, descriptions and predicates are texts of other people.
package segments
