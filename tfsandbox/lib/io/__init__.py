"""Files as TensorFlow programs reach them: `file_io` and `tf_record`."""
