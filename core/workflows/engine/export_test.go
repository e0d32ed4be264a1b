package engine

// Cohort is cohort, for tests.
func Cohort(of ...string) int { return cohort(of...) }
