package v8math

// Function is one function of Math with one argument.
type Function struct {
	Name string
	Of   func(float64) float64
}

// Functions are those whose last digit the standard leaves open.
func Functions() []Function { return functions[:] }

var functions = [...]Function{
	{"acos", acos}, {"acosh", acosh}, {"asin", asin}, {"asinh", asinh}, {"atan", atan}, {"atanh", atanh},
	{"cbrt", cbrt}, {"cos", cos}, {"cosh", cosh}, {"exp", exp}, {"expm1", expm1}, {"log", log}, {"log10", log10},
	{"log1p", log1p}, {"log2", log2}, {"sin", sin}, {"sinh", sinh}, {"tan", tan}, {"tanh", tanh},
}
