// Package retention stores for how long organizations keep records, and deletes old ones.
//
// Each statement reads the oldest end of an index that begins with org_id, so a batch costs the
// same in a table of any size, and a run with nothing to delete reads one row of each index.
package retention
