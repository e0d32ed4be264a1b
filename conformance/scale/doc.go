// Package scale computes what an installation needs: disk, processors, connections and
// database nodes, from what one contact, message, event, activity and workflow run costs.
// core/doc/scale.md has the results.
//
// The bytes in costs.go are measured with 100,000 units of each kind. A test measures a few
// thousand on both databases and compares, so that a new index or column is noticed. To
// measure again, and to write the tables of the page:
//
//	MAILHELM_TEST_FULL=1 go test ./conformance/scale -run TestBytes -v
//	go test ./conformance/scale -run NONE -bench Calls -benchtime 3s
//	go test ./conformance/scale -run TestGolden -update
package scale
