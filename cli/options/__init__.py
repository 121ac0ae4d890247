"""Options, selections and output formats that several commands of ``rmqc`` share."""
