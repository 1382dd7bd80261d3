"""The CUDA autocast cases: dtypes and refusals are answers of PyTorch's own AutocastCUDA kernels, values are computed in
float64 from the definitions. Files that comments name are PyTorch's, most of them below aten/src/ATen."""
