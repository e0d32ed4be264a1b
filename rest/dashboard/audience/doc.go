// Package audience has the dashboard's pages about the groups that contacts belong to:
// static lists and topics.
//
// The pages read and write through operations. Searches of lists and of members come from
// core/lists. Before a deletion, core/segments says which segments test the list or topic.
package audience
